// Opens and closes all the transports of one target: stdio, an HTTP port, an SDK Transport, or a request handler for
// another HTTP server.
import type { Transport } from '@modelcontextprotocol/client';
import type { ServeContext } from '../eras/serve/serve-context.ts';
import { drainPort } from './drain.ts';
import type { ListCalls } from './drain.ts';
import { createHttpEndpoint } from './http/http-endpoint.ts';
import type { EndpointOptions, EndpointSetup } from './http/endpoint-options.ts';
import type { HttpEndpoint } from './http/http-endpoint.ts';
import type { HttpListenOptions, HttpListening, HttpPort } from './http/listen-http.ts';
import { HttpSessions } from './session/http-sessions.ts';
import { acceptStdio } from './stdio.ts';
import type { StdioListening, StdioListenOptions } from './stdio.ts';
import { acceptSdkTransport } from './sdk-transport.ts';

export type ListenOptions = ({ stdio: true } & StdioListenOptions) | HttpListenOptions;

/** The listener that `listen` returns for these options. */
export type ListeningWith<O extends ListenOptions> = O extends { stdio: true } ? StdioListening : HttpListening;

export class TransportListeners {
  readonly #context: ServeContext;
  readonly #defaults: EndpointSetup;
  #sessions: HttpSessions | undefined;
  readonly #open = new Set<{ close(): unknown; drain?(besides: ListCalls): Promise<void> }>();

  constructor(context: ServeContext, defaults: EndpointSetup = {}) {
    this.#context = context;
    this.#defaults = defaults;
  }

  /** Open ones, over HTTP. */
  get sessions(): number {
    return this.#sessions?.size ?? 0;
  }

  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    const listening = 'stdio' in options ? this.#listenStdio(options) : await this.#listenHttp(options);
    this.#open.add(listening);
    if ('closed' in listening) void listening.closed.then(() => this.#open.delete(listening));
    return listening as ListeningWith<O>;
  }

  #listenStdio(options: StdioListenOptions): StdioListening {
    const { part } = options;
    const context = part === undefined ? undefined : this.#defaults.part?.(part);
    return acceptStdio(context ?? this.#context, options);
  }

  /** Loaded on demand: on stdio, every file less makes the first answer faster. */
  async #listenHttp(options: HttpListenOptions): Promise<HttpPort> {
    const { listenHttp } = await import('./http/listen-http.ts');
    return listenHttp(this.#context, { ...this.#setup, ...options });
  }

  /** All ports serve the same sessions. */
  get #setup(): EndpointSetup {
    if (!this.#sessions || this.#sessions.isClosed) this.#sessions = new HttpSessions(this.#context);
    return { ...this.#defaults, sessions: this.#sessions };
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

  /** For requests that other gateways forward: it has ended when no call is in flight; the connections are not its own. */
  endpointForNodes(options: EndpointOptions): HttpEndpoint {
    return this.#endpoint(options, (calls) => calls.length);
  }

  endpoint(options: EndpointOptions): HttpEndpoint {
    return this.#endpoint(options, () => 0); // the connections belong to the server around it
  }

  #endpoint(options: EndpointOptions, toWaitFor: (calls: object[]) => number): HttpEndpoint {
    const endpoint = createHttpEndpoint(this.#context, { ...this.#setup, ...options });
    const closeIdle = (): number => {
      endpoint.sendAway();
      return toWaitFor([...endpoint.calls()]);
    };
    const drain = (besides: ListCalls): Promise<void> =>
      drainPort({ calls: () => [...endpoint.calls(), ...besides()], closeIdle }, this.#context);
    this.#open.add({ close: () => endpoint.close(), drain });
    return endpoint;
  }

  /** Finishes what is in flight over HTTP; `besides` are further calls to wait for. */
  async drain(besides: ListCalls): Promise<void> {
    await Promise.all([...this.#open].map(async (one) => one.drain?.(besides)));
  }

  /** Accepts no new clients from now on; resolves when all have left. */
  close(): Promise<unknown> {
    const open = [...this.#open];
    this.#open.clear();
    this.#context.parked.clear();
    return Promise.all(open.map((one) => one.close()));
  }
}
