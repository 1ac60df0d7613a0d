// A server with its doors: the same target served on stdio, on one HTTP port for every transport, over an official SDK
// Transport, or mounted into an HTTP server of your own.
import type { Transport } from '@modelcontextprotocol/client';
import { createHttpEndpoint } from '../gateway/accept/http-endpoint.ts';
import type { EndpointOptions, HttpEndpoint } from '../gateway/accept/http-endpoint.ts';
import { listenHttp } from '../gateway/accept/listen-http.ts';
import type { HttpListenOptions, HttpListening } from '../gateway/accept/listen-http.ts';
import { acceptStdio } from '../gateway/accept/stdio.ts';
import type { StdioListening, StdioOptions } from '../gateway/accept/stdio.ts';
import { acceptTransport } from '../gateway/accept/transport.ts';
import { createFront } from '../gateway/dialect/front.ts';
import type { Front } from '../gateway/dialect/front.ts';
import { Server } from './server.ts';
import type { ServerOptions } from './types.ts';

export function createServer(options: ServerOptions): ParleyServer {
  return new ParleyServer(options);
}

export class ParleyServer extends Server {
  readonly #front: Front;
  readonly #open = new Set<{ close(): unknown }>();

  constructor(options: ServerOptions) {
    super(options);
    this.#front = createFront(this, options);
  }

  listen(options: { stdio: true } & StdioOptions): Promise<StdioListening>;
  listen(options: HttpListenOptions): Promise<HttpListening>;
  async listen(options: ({ stdio: true } & StdioOptions) | HttpListenOptions): Promise<StdioListening | HttpListening> {
    const { identify } = this.options;
    const listening =
      'stdio' in options ? acceptStdio(this.#front, options) : await listenHttp(this.#front, { identify, ...options });
    this.#open.add(listening);
    return listening;
  }

  /** Serves one client over an official SDK Transport. */
  async connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    const connection = await acceptTransport(this.#front, transport);
    this.#open.add(connection);
    return connection;
  }

  /** A request handler for an HTTP server of your own: `http.createServer(endpoint.handle).on('upgrade', endpoint.upgrade)`. */
  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    const { identify } = this.options;
    const endpoint = createHttpEndpoint(this.#front, { identify, ...options });
    this.#open.add(endpoint);
    return endpoint;
  }

  async close(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    const closing = open.map((one) => one.close());
    // Not before the doors are closed, so that no new one comes in; not after, so that nobody waits for one any more.
    this.dropTasks();
    await Promise.all(closing);
  }
}
