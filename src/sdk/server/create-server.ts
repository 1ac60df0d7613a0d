// A server with its transports: stdio, HTTP and SDK transports.
import type { Transport } from '@modelcontextprotocol/client';
import { TransportListeners } from '../../mcp/listen/transport-listeners.ts';
import type { ListenOptions, ListeningWith } from '../../mcp/listen/transport-listeners.ts';
import type { EndpointOptions } from '../../mcp/listen/http/endpoint-options.ts';
import type { HttpEndpoint } from '../../mcp/listen/http/http-endpoint.ts';
import type { HttpListenOptions, HttpListening } from '../../mcp/listen/http/listen-http.ts';
import { createLogin } from '../../mcp/listen/login.ts';
import type { Login } from '../../mcp/listen/login.ts';
import { loadFrontPages } from '../../people/load-front-pages.ts';
import { splitPages } from '../../mcp/listen/http/page-access.ts';
import { isLoopback } from '../../mcp/listen/guard.ts';
import { HumanChannel } from '../../people/human-channel.ts';
import { createServeContext } from '../../mcp/eras/serve/serve-context.ts';
import type { ServeContext } from '../../mcp/eras/serve/serve-context.ts';
import { TEXT_TYPE, writeFamilies } from '../../kernel/base/metric.ts';
import { metricsPage } from '../../mcp/listen/http/health.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import { toSafeLog } from '../../kernel/base/log.ts';
import { createSealer } from '../../kernel/crypto/seal.ts';
import { keysFrom } from '../../kernel/crypto/state-keys.ts';
import { Server } from './server.ts';
import type { ServerOptions } from './types.ts';

/**
 * A server: tools, resources and prompts, for every revision and transport.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 *
 * const server = createServer({ name: 'clock', version: '1.0.0' });
 * server.tool('time', { description: 'The time in UTC' }, () => new Date().toISOString());
 * await server.listen({ port: 8471 }); // or { stdio: true }
 * ```
 */
export function createServer(options: ServerOptions): ParleyServer {
  return new ParleyServer(options);
}

export class ParleyServer extends Server {
  #made: TransportListeners | undefined;
  #asking: HumanChannel | undefined;
  #logins: Login | undefined;

  /** Created with the first transport: what is registered by then decides whether users are asked in place of clients. */
  get #listeners(): TransportListeners {
    if (this.#made) return this.#made;
    const login = this.#login;
    this.#made = new TransportListeners(this.#front(), {
      identify: login?.identify ?? this.options.identify,
      login,
      publicUrl: this.options.publicUrl,
    });
    return this.#made;
  }

  /** Serves clients on stdio, or on one port for every HTTP transport. */
  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    return (
      'stdio' in options ? await this.#listeners.listen(options) : await this.#listen(options)
    ) as ListeningWith<O>;
  }

  async #listen(options: HttpListenOptions): Promise<HttpListening> {
    this.reachExtensions();
    const listeners = this.#listeners;
    const asking = this.#asking;
    if (!asking) return listeners.listen(options);
    const host = options.host ?? '127.0.0.1';
    // Metrics of extensions, on ports of this machine only.
    const metrics = isLoopback(host) && {
      '/metrics': metricsPage(async () => ({ type: TEXT_TYPE, body: writeFamilies(await this.metrics()) })),
    };
    const listening = await listeners.listen({ ...options, ...this.#pages(options, { ...metrics }, asking) });
    asking.pageEndpoint.opened(host, listening.url);
    return listening;
  }

  /** Serves one client over an official SDK Transport. */
  connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    return this.#listeners.connect(transport);
  }

  /** A request handler for your own HTTP server: `http.createServer(endpoint.handle).on('upgrade', endpoint.upgrade)`. */
  endpoint(options: EndpointOptions = {}): HttpEndpoint {
    this.reachExtensions();
    const listeners = this.#listeners;
    this.#asking?.pageEndpoint.embedded();
    if (!this.#asking) return listeners.endpoint(options);
    return listeners.endpoint({ ...options, ...this.#pages(options, {}, this.#asking) });
  }

  #pages({ pages }: EndpointOptions, metrics: NonNullable<EndpointOptions['pages']>, { pageEndpoint }: HumanChannel) {
    return splitPages({
      own: { ...pages },
      ours: { ...metrics, ...pageEndpoint.pages },
      open: { ...this.open?.pages },
    });
  }

  async close(): Promise<void> {
    const closing = Promise.all([this.#made?.close(), this.#asking?.close()]);
    // Transports close first, so that no new task starts; the rest waits for no task any more.
    this.dropTasks();
    await closing;
    this.#logins?.close();
    await this.closeExtensions();
  }

  get #login(): Login | undefined {
    const { clock = systemClock, auth } = this.options;
    const log = toSafeLog(this.options.log);
    if (auth) this.#logins ??= createLogin({ ...this.options, auth }, { log, clock, loadFrontPages });
    return this.#logins;
  }

  #front(): ServeContext {
    const { options } = this;
    if (options.ask?.channels?.length === 0 && !this.asks) return createServeContext(this, options);
    const { clock = systemClock } = options;
    const log = toSafeLog(options.log);
    const around = { log, clock, sealer: createSealer(keysFrom(options, log)) };
    const asking = new HumanChannel(
      // Whom to believe is the author's choice; a gateway before this server decides for its own clients.
      { ...options, ask: { trust: 'all', ...options.ask }, besides: () => this.open?.pages ?? {} },
      { ...around, login: this.#login },
    );
    this.#asking = asking;
    this.open?.servedAt(asking.pageEndpoint.host);
    return createServeContext(asking.layer(this), { ...options, ...around });
  }
}
