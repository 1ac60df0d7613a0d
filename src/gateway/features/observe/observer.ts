// Observes a gateway: counters, spans and health. It wraps the steps, to see what clients request, and each server, to see the
// resulting calls. A disabled feature costs nothing.
import { looseClient } from '../../../mcp/eras/own-clients.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { ObservedLayer } from '../../../kernel/target.ts';
import type { Layer, Handle, Target, Watcher } from '../../../kernel/target.ts';
import { PING_PEER } from '../../../kernel/methods.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Family } from '../../../kernel/base/metric.ts';
import type { HttpHandler } from '../../../kernel/base/http.ts';
import { metricsPage, createReadyPage, healthPage } from '../../../mcp/listen/http/health.ts';
import type { ReadyPageOptions, ServerHealth } from '../../../mcp/listen/http/health.ts';
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import { CountedEvents } from './counted-events.ts';
import { CountedLayer, Metrics } from './metrics.ts';
import type { ProcessFamilies } from './process-families.ts';
import { ExchangeTracer, hasTracing } from './exchange-tracer.ts';
import { UpstreamEvents } from './vitals.ts';

export interface ObserveOptions {
  /** Counters at /metrics. Default: only on ports that are private to this machine. */
  metrics?: boolean | undefined;
  /** OpenTelemetry spans. Default: if an SDK was registered in this process before the gateway was created. */
  tracing?: boolean | undefined;
}

/** The state that a gateway reports. */
export interface GatewayState {
  readonly servers: readonly (ServerHealth & { target: Target })[];
  /** Calls that wait for an answer of their user. */
  readonly parked: number;
  /** It finishes its last calls, and no new clients should be sent here. */
  readonly isStopping: boolean;
  /** Metrics of servers in this process. */
  readonly families?: (() => Promise<readonly Family[]>) | undefined;
}

interface ObserverContext {
  events?: EventHub | undefined;
  log?: Log | undefined;
}

export class Observer {
  readonly #options: ObserveOptions;
  readonly #observed: () => GatewayState;
  readonly #upstreams = new UpstreamEvents();
  readonly #watching = { sessions: 0, listens: 0 };
  readonly #waking = new Set<Target>();
  readonly #tracing: ExchangeTracer | undefined;
  readonly #metrics: Metrics | undefined;
  readonly #counted = new CountedEvents();
  readonly #events: EventHub | undefined;
  #process: Promise<ProcessFamilies> | undefined;

  constructor(options: ObserveOptions, observed: () => GatewayState, { events, log }: ObserverContext = {}) {
    this.#options = options;
    this.#events = events;
    this.#observed = observed;
    this.#tracing = (options.tracing ?? hasTracing()) ? new ExchangeTracer(log) : undefined;
    if (options.tracing === true && !hasTracing()) log?.warn({}, 'tracing.no-sdk');
    this.#metrics = options.metrics === false ? undefined : this.#createMetrics();
    if (this.#metrics && options.metrics === true) this.#show(this.#metrics);
  }

  /** Traces what clients send, and counts clients; nothing where both are off. */
  readonly layer: Layer = (next) => {
    const tracing = this.#tracing;
    const traced = tracing ? new ObservedLayer(next, (exchange, handle) => tracing.serve(exchange, handle)) : next;
    return this.#metrics ? new CountedLayer(traced, this.#metrics, (watcher) => this.#attend(watcher)) : traced;
  };

  /** Wraps a server, to observe the calls to it. */
  member<M extends { readonly name: string; readonly target: Target }>(member: M): M {
    const tracing = this.#tracing;
    if (!tracing) return member;
    const around = (exchange: Exchange, handle: Handle) => tracing.call(member.name, exchange, handle);
    return { ...member, target: new ObservedLayer(member.target, around) };
  }

  log(log: Log, server: string): Log {
    return this.#options.metrics === false ? log : this.#upstreams.hear(log, server);
  }

  /** The pages of a port, or of an endpoint in another HTTP server. */
  pages(isPrivate: boolean, isLocal: ReadyPageOptions['isLocal']): Record<string, HttpHandler> {
    const ready = createReadyPage({
      servers: () => this.#observed().servers,
      wake: (name) => this.#wake(name),
      isStopping: () => this.#observed().isStopping,
      isLocal,
    });
    const pages = { '/healthz': healthPage, '/readyz': ready };
    const metrics = this.#metrics;
    if (!metrics || !(this.#options.metrics ?? isPrivate)) return pages;
    this.#show(metrics);
    if (this.#events) this.#counted.watch(this.#events);
    return { ...pages, '/metrics': metricsPage(async () => metrics.text(await this.#families())) };
  }

  /** What is not a call, and what is loaded with the first look. */
  async #families(): Promise<Family[]> {
    this.#process ??= import('./process-families.ts').then((loaded) => new loaded.ProcessFamilies());
    const [ofProcess, ofServers = []] = await Promise.all([this.#process, this.#observed().families?.()]);
    return [...this.#counted.families(), ...ofProcess.families(), ...ofServers];
  }

  /** From now on somebody can see them. */
  #show(metrics: Metrics): void {
    if (!metrics.isShown) this.#events?.watch(metrics);
    metrics.isShown = true;
  }

  #createMetrics(): Metrics {
    const vitals = () => ({ ...this.#observed(), ...this.#watching, upstreams: this.#upstreams.counts });
    return new Metrics(vitals);
  }

  #attend({ client }: Watcher): () => void {
    const kind = client.era.hasSession ? 'sessions' : 'listens';
    this.#watching[kind]++;
    let isThere = true;
    return () => {
      if (isThere) this.#watching[kind]--;
      isThere = false;
    };
  }

  /** Any request retries a failed server whose back-off has elapsed. */
  #wake(name: string): void {
    const { target } = this.#observed().servers.find((server) => server.name === name) ?? {};
    if (!target || this.#waking.has(target)) return;
    this.#waking.add(target);
    const answer = Promise.resolve(target.handle(new InternalExchange(PING_PEER, {}, PROBE)));
    answer.catch(() => {}).finally(() => this.#waking.delete(target)); // the next request reads its state
  }
}

const PROBE: ClientView = { ...looseClient('parley-readyz'), revision: 'probe' };
