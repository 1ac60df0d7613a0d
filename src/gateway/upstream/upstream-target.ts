// A server as something requests can be handed to: connected when it is needed, again when it was lost, and known by its
// last words while it is away.
import type { ClientCapabilities, Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import type { Change, Target } from '../../protocol/target.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Limits } from '../../shared/limits.ts';
import { createLog } from '../../shared/log.ts';
import type { Log } from '../../shared/log.ts';
import type { Address } from './address.ts';
import type { AskRouting } from './ask-routing.ts';
import { Connections } from './connections.ts';
import { toTargetError } from './target-errors.ts';
import { Supervised } from './supervised.ts';
import { openUpstream } from './upstream.ts';

export interface UpstreamTargetOptions {
  /** The name in the configuration; for errors, logs and prefixes. */
  name: string;
  address: Address;
  /** Who we are towards the server. */
  client: Implementation;
  /** `session`: every client has a connection of its own. Default: shared where the client cannot be asked. */
  share?: 'auto' | 'session' | undefined;
  revision?: string | undefined;
  timeoutMs?: number | undefined;
  /** A connection nobody has used for this long is closed; own connections of clients default to 5 minutes. */
  idleMs?: number | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
}

const OWN_IDLE_MS = 5 * 60_000;
const NOBODY: Implementation = { name: 'unknown', version: '0' };

export class UpstreamTarget implements Target {
  readonly name: string;
  readonly #options: UpstreamTargetOptions;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #connections: Connections;
  readonly #listeners = new Set<(change: Change) => void>();
  /** What was last known, also while the server is away. */
  #server: ServerView | undefined;

  constructor(options: UpstreamTargetOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = (options.log ?? createLog()).child({ server: options.name });
    this.#clock = options.clock ?? systemClock;
    this.#connections = new Connections({
      perClient: options.share === 'session',
      open: (capabilities, asks, onGone) => this.#supervise(capabilities, asks, onGone),
    });
  }

  get info(): Implementation {
    return this.#server?.info ?? NOBODY;
  }

  get instructions(): string | undefined {
    return this.#server?.instructions;
  }

  /** For `status`: what the connection is, and why it is not there. */
  get status(): {
    state: Supervised['state'];
    server: ServerView | undefined;
    transport: string | undefined;
    failure: string | undefined;
  } {
    const { state, current, failure } = this.#shared;
    return { state, server: this.#server, transport: current?.transport, failure: failure?.message };
  }

  get #shared(): Supervised {
    return this.#connections.shared.supervised;
  }

  /** Resolves when the server is connected, or has failed to be: `status` then says why. */
  async ready(): Promise<void> {
    await this.#shared.get().catch(() => {});
  }

  capabilities(): ServerCapabilities {
    return this.#server?.capabilities ?? {};
  }

  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    this.#shared.current?.watch();
    return () => void this.#listeners.delete(listener);
  }

  async handle(exchange: Exchange): Promise<JsonObject> {
    const { method, params } = exchange;
    try {
      if (method === 'resources/subscribe') return await this.#subscribe(params.uri as string, true);
      if (method === 'resources/unsubscribe') return await this.#subscribe(params.uri as string, false);
      return await this.#call(exchange);
    } catch (thrown) {
      throw toTargetError(thrown, exchange, this.name);
    }
  }

  /** No longer wanted: closed once the calls under way have ended. */
  async retire(): Promise<void> {
    await Promise.all(this.#connections.all.map(({ supervised }) => supervised.retire()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.all.map(({ supervised }) => supervised.close()));
  }

  async #call(exchange: Exchange): Promise<JsonObject> {
    // A stateless server is told with each call who calls, and answers on the call itself: all may share its connection.
    if (!this.#server) await this.#shared.get();
    const stateless = this.#server?.dialect === 'stateless';
    const { supervised, asks } = stateless ? this.#connections.shared : this.#connections.for(exchange.client);
    const leave = asks.enter((ask) => exchange.ask(ask));
    try {
      return await supervised.use((upstream) => upstream.call(this.#toCall(exchange)));
    } finally {
      leave();
    }
  }

  #toCall(exchange: Exchange) {
    const { method, params, signal, trace, task } = exchange;
    return {
      method,
      params,
      signal,
      trace,
      task: task?.requested ? { ttl: task.ttl } : undefined,
      timeoutMs: this.#options.timeoutMs,
      onProgress: (progress: Parameters<Exchange['progress']>[0]) => exchange.progress(progress),
      onNotify: (notification: { method: string; params?: JsonObject }) =>
        exchange.notify(notification.method, notification.params),
      ask: (ask: Ask) => exchange.ask(ask),
    };
  }

  /** Subscriptions are one for all: which client wants what is kept by its dialect. */
  async #subscribe(uri: string, wanted: boolean): Promise<JsonObject> {
    await this.#shared.use((upstream) => (wanted ? upstream.subscribe(uri) : upstream.unsubscribe(uri)));
    return {};
  }

  #supervise(capabilities: ClientCapabilities, asks: AskRouting, onGone: () => void): Supervised {
    const isShared = Object.keys(capabilities).length === 0;
    const { address, client, revision, timeoutMs, limits, idleMs = isShared ? undefined : OWN_IDLE_MS } = this.#options;
    return new Supervised({
      clock: this.#clock,
      idleMs,
      open: (onClose) =>
        openUpstream(address, {
          info: client,
          capabilities,
          events: { onAsk: (ask) => asks.put(ask), onChange: (change) => isShared && this.#tell(change) },
          onClose,
          ...{ revision, timeoutMs, limits, log: this.#log, clock: this.#clock },
        }),
      onOpen: (upstream) => {
        this.#server = upstream.server;
        if (isShared && this.#listeners.size > 0) upstream.watch();
        this.#log.info({ revision: upstream.server.revision, transport: upstream.transport }, 'upstream.ready');
      },
      onLost: (reason) => {
        this.#log.warn({ reason }, 'upstream.lost');
        onGone();
      },
    });
  }

  #tell(change: Change): void {
    if (change.kind === 'log') return; // whose it is cannot be said of a shared connection
    for (const listener of this.#listeners) listener(change);
  }
}
