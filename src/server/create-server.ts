// A server with its doors.
import type { Transport } from '@modelcontextprotocol/client';
import { Doors } from '../gateway/accept/doors.ts';
import type { ListenOptions } from '../gateway/accept/doors.ts';
import type { EndpointOptions, HttpEndpoint } from '../gateway/accept/http-endpoint.ts';
import type { HttpListenOptions, HttpListening } from '../gateway/accept/listen-http.ts';
import type { StdioListening, StdioOptions } from '../gateway/accept/stdio.ts';
import { createFront } from '../gateway/dialect/front.ts';
import { Server } from './server.ts';
import type { ServerOptions } from './types.ts';

export function createServer(options: ServerOptions): ParleyServer {
  return new ParleyServer(options);
}

export class ParleyServer extends Server {
  readonly #doors: Doors;

  constructor(options: ServerOptions) {
    super(options);
    this.#doors = new Doors(createFront(this, options), { identify: options.identify });
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  listen(options: { stdio: true } & StdioOptions): Promise<StdioListening>;
  listen(options: HttpListenOptions): Promise<HttpListening>;
  listen(options: ListenOptions): Promise<StdioListening | HttpListening> {
    return this.#doors.listen(options);
  }

  /** Serves one client over an official SDK Transport. */
  connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    return this.#doors.connect(transport);
  }

  /** A request handler for an HTTP server of your own: `http.createServer(endpoint.handle).on('upgrade', endpoint.upgrade)`. */
  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    return this.#doors.endpoint(options);
  }

  async close(): Promise<void> {
    const closing = this.#doors.close();
    // Not before the doors are closed, so that no new one comes in; not after, so that nobody waits for one any more.
    this.dropTasks();
    await closing;
    await this.closeExtensions();
  }
}
