// Where clients and browsers come in: the transports of a gateway, with the pages of their ports.
import type { Transport } from '@modelcontextprotocol/client';
import type { OpenPages } from '../kernel/target.ts';
import { isLoopback } from '../mcp/listen/guard.ts';
import type { EndpointOptions } from '../mcp/listen/http/endpoint-options.ts';
import type { HttpEndpoint } from '../mcp/listen/http/http-endpoint.ts';
import type { HttpListenOptions, HttpListening } from '../mcp/listen/http/listen-http.ts';
import { splitPages } from '../mcp/listen/http/page-access.ts';
import { requireUrl } from '../mcp/listen/login.ts';
import type { Login } from '../mcp/listen/login.ts';
import { TransportListeners } from '../mcp/listen/transport-listeners.ts';
import type { ListenOptions, ListeningWith } from '../mcp/listen/transport-listeners.ts';
import type { HumanChannel } from '../people/human-channel.ts';
import type { FeatureSet } from './feature-set.ts';
import type { Fronts } from './fronts.ts';
import type { CompleteOptions } from './gateway-options.ts';

interface Behind {
  fronts: Fronts;
  login: Login | undefined;
  people: HumanChannel;
  features: FeatureSet;
  openPages: () => OpenPages['pages'];
}

export class Doors {
  readonly #options: CompleteOptions;
  readonly #behind: Behind;
  readonly #listeners: TransportListeners;
  /** Where ports are open. */
  readonly #hosts = new Set<string>();
  #hasJoined = false;
  /** No new clients should be sent here. */
  isStopping = false;

  constructor(options: CompleteOptions, behind: Behind) {
    this.#options = options;
    this.#behind = behind;
    const { fronts, login } = behind;
    this.#listeners = new TransportListeners(fronts.whole, {
      ...options,
      ...(login && { login, identify: login.identify }),
      part: (name) => fronts.part(name),
    });
  }

  async listen<O extends ListenOptions>(options: O): Promise<ListeningWith<O>> {
    return (
      'stdio' in options ? await this.#listeners.listen(options) : await this.#listen(options)
    ) as ListeningWith<O>;
  }

  async #listen(options: HttpListenOptions): Promise<HttpListening> {
    const host = options.host ?? this.#options.host ?? '127.0.0.1';
    await this.#join(options);
    const listening = await this.#listeners.listen({ ...options, ...this.#pages(options, isLoopback(host)) });
    this.#hosts.add(host);
    this.#behind.people.pageEndpoint.opened(host, listening.url);
    return listening;
  }

  /** Throws if ports are open at which the login cannot work. */
  checkLogin(): void {
    for (const host of this.#hosts) requireUrl({ ...this.#options, login: this.#behind.login }, host);
  }

  /** Other gateways forward to the internal port, which serves the same. */
  async #join(options: EndpointOptions): Promise<void> {
    const { nodes } = this.#options;
    if (!nodes || this.#hasJoined) return;
    this.#hasJoined = true;
    const { handle } = this.#listeners.endpointForNodes({ ...options, ...this.#pages(options, false) });
    await nodes.open({ serve: handle, sessions: () => this.#listeners.sessions });
  }

  connect(transport: Transport): Promise<{ close(): Promise<void> }> {
    return this.#listeners.connect(transport);
  }

  endpoint(options: EndpointOptions): HttpEndpoint {
    this.#behind.people.pageEndpoint.embedded();
    const { openPages, ...pages } = this.#pages(options, false);
    const { '/': _root, ...below } = openPages; // the root of another HTTP server is its own
    return this.#listeners.endpoint({ ...options, ...pages, openPages: below });
  }

  async drain(): Promise<void> {
    this.isStopping = true;
    await this.#options.nodes?.drain();
    this.#behind.features.sendAway();
    await this.#listeners.drain(() => this.#behind.people.calls);
  }

  async close(): Promise<void> {
    this.isStopping = true;
    this.#behind.features.sendAway();
    await this.#listeners.close();
    await this.#options.nodes?.close();
  }

  #pages({ pages }: EndpointOptions, isPrivate: boolean) {
    const { features, people, login, openPages } = this.#behind;
    return splitPages({
      own: { ...this.#options.pages, ...pages },
      ours: { ...features.pages(isPrivate), ...people.pageEndpoint.pages },
      open: openPages(),
      isPublic: this.#options.observe?.metrics === true && !login,
    });
  }
}
