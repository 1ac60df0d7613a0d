// All the ways in to one target: stdio, one HTTP port for every transport, an official SDK Transport, or a request handler
// for an HTTP server of somebody else. Remembers what it opened, to close it.
import type { Transport } from '@modelcontextprotocol/client';
import type { ServeContext } from '../dialect/serve/serve-context.ts';
import { createHttpEndpoint } from './http/http-endpoint.ts';
import type { EndpointOptions, HttpEndpoint } from './http/http-endpoint.ts';
import type { HttpListenOptions, HttpListening } from './http/listen-http.ts';
import { acceptStdio } from './stdio.ts';
import type { StdioListening, StdioListenOptions } from './stdio.ts';
import { acceptSdkTransport } from './sdk-transport.ts';

export type ListenOptions = ({ stdio: true } & StdioListenOptions) | HttpListenOptions;

/** What is listening with these options; either of the two where the options may be either. */
export type ListeningWith<O extends ListenOptions> = O extends { stdio: true } ? StdioListening : HttpListening;

export class TransportListeners {
  readonly #context: ServeContext;
  readonly #defaults: EndpointOptions;
  readonly #open = new Set<{ close(): unknown }>();

  constructor(context: ServeContext, defaults: EndpointOptions = {}) {
    this.#context = context;
    this.#defaults = defaults;
  }

  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    return (await this.#listen(options)) as ListeningWith<O>;
  }

  async #listen(options: ListenOptions): Promise<StdioListening | HttpListening> {
    const listening =
      'stdio' in options ? acceptStdio(this.#contextOf(options), options) : await this.#listenHttp(options);
    this.#open.add(listening);
    if ('closed' in listening) void listening.closed.then(() => this.#open.delete(listening));
    return listening;
  }

  #contextOf({ part }: StdioListenOptions): ServeContext {
    return part === undefined ? this.#context : (this.#defaults.part?.(part) ?? this.#context);
  }

  /** Loaded when it is needed: on stdio every file less is an earlier answer. */
  async #listenHttp(options: HttpListenOptions): Promise<HttpListening> {
    const { listenHttp } = await import('./http/listen-http.ts');
    return listenHttp(this.#context, { ...this.#defaults, ...options });
  }

  async connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    let isGone = false;
    let connection: { close(): Promise<void> } | undefined;
    connection = await acceptSdkTransport(this.#context, transport, () => {
      isGone = true; // a transport may close while it starts
      if (connection) this.#open.delete(connection);
    });
    if (!isGone) this.#open.add(connection);
    return connection;
  }

  endpoint(options: EndpointOptions): HttpEndpoint {
    const endpoint = createHttpEndpoint(this.#context, { ...this.#defaults, ...options });
    this.#open.add(endpoint);
    return endpoint;
  }

  /** Nobody comes in any more once this has been called; resolves when everybody is out. */
  close(): Promise<unknown> {
    const open = [...this.#open];
    this.#open.clear();
    this.#context.parked.close();
    return Promise.all(open.map((one) => one.close()));
  }
}
