// The counters as Prometheus knows them. Every label is from a fixed list, or a name in the configuration.
import type * as PromClient from 'prom-client';
import type { UpstreamCounts } from './upstream-events.ts';

/** What is known of a gateway at any time. */
export interface Vitals {
  readonly servers: readonly { name: string; state: string }[];
  readonly upstreams: ReadonlyMap<string, UpstreamCounts>;
  readonly sessions: number;
  readonly listens: number;
  readonly parked: number;
  readonly inFlight: number;
}

/** An exchange that was answered. */
export interface Ended {
  method: string;
  server: string;
  client: string;
  outcome: string;
  /** Only of what failed. */
  code: string | undefined;
  seconds: number;
}

export interface Recorder {
  record(ended: Ended): void;
  text(): Promise<{ type: string; body: string }>;
}

type Prom = typeof PromClient;
type Registry = PromClient.Registry;

const STATES = ['idle', 'starting', 'ready', 'failing'];
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export async function createRecorder(vitals: () => Vitals): Promise<Recorder> {
  const prom: Prom = await import('prom-client');
  const registry = new prom.Registry();
  const record = countExchanges(prom, registry);
  showNumbers(prom, registry, vitals);
  showUpstreams(prom, registry, vitals);
  return { record, text: async () => ({ type: registry.contentType, body: await registry.metrics() }) };
}

function countExchanges({ Counter, Histogram }: Prom, registry: Registry): (ended: Ended) => void {
  const registers = [registry];
  const exchanges = new Counter({
    name: 'parley_exchanges_total',
    help: 'Requests of clients that were answered. server is empty where none answered alone.',
    labelNames: ['method', 'server', 'client', 'outcome'],
    registers,
  });
  const errors = new Counter({
    name: 'parley_errors_total',
    help: 'Requests that failed, by code of docs/errors.md; "server" where a server has refused in its own words.',
    labelNames: ['code'],
    registers,
  });
  const durations = new Histogram({
    name: 'parley_exchange_duration_seconds',
    help: 'From a request to its answer, with the time that a user took to answer questions.',
    labelNames: ['method', 'server'],
    buckets: BUCKETS,
    registers,
  });
  return ({ method, server, client, outcome, code, seconds }) => {
    exchanges.inc({ method, server, client, outcome });
    durations.observe({ method, server }, seconds);
    if (code !== undefined) errors.inc({ code });
  };
}

function showNumbers({ Gauge }: Prom, registry: Registry, vitals: () => Vitals): void {
  const show = (name: string, help: string, read: (vitals: Vitals) => number) => {
    const collect = (): void => gauge.set(read(vitals()));
    const gauge = new Gauge({ name, help, registers: [registry], collect });
  };
  show('parley_exchanges_in_flight', 'Requests being answered, parked calls among them.', ({ inFlight }) => inFlight);
  show('parley_sessions', 'Clients that have initialized and are still there.', ({ sessions }) => sessions);
  show('parley_listen_streams', 'Open subscriptions/listen streams.', ({ listens }) => listens);
  show('parley_parked_calls', 'Calls that wait for an answer of their user.', ({ parked }) => parked);
}

function showUpstreams({ Counter, Gauge }: Prom, registry: Registry, vitals: () => Vitals): void {
  const registers = [registry];
  const states = new Gauge({
    name: 'parley_upstream_state',
    help: 'Servers by state: 1 for the state that a server is in.',
    labelNames: ['server', 'state'],
    registers,
    collect() {
      states.reset(); // a server that was removed is in no state
      for (const { name: server, state } of vitals().servers)
        for (const one of STATES) states.set({ server, state: one }, Number(one === state));
    },
  });
  const count = (name: string, help: string, read: (counts: UpstreamCounts) => number) => {
    const counter = new Counter({
      name,
      help,
      labelNames: ['server'],
      registers,
      collect() {
        counter.reset();
        for (const [server, counts] of vitals().upstreams) counter.inc({ server }, read(counts));
      },
    });
  };
  count('parley_upstream_lost_total', 'Connections to a server that ended by themselves.', ({ lost }) => lost);
  count('parley_upstream_restarts_total', 'Connections opened again after one was lost.', ({ restarts }) => restarts);
}
