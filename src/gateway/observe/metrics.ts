// The counters of one gateway. Each gateway has its own, so that two in one process do not mix.
import type { Handle, HandleResult } from '../../protocol/target.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import type { Family, Sample } from '../../shared/metric.ts';
import { TEXT_TYPE, writeFamilies } from './exposition.ts';
import { tapOutcome } from './observed-layer.ts';
import { vitalFamilies } from './vitals.ts';
import type { Vitals } from './vitals.ts';
import { fieldOf } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';

type Known = Omit<Vitals, 'inFlight'>;

export class Metrics {
  readonly #vitals: () => Known;
  readonly #now: () => number;
  readonly #counts = new ExchangeCounts();
  #inFlight = 0;

  constructor(vitals: () => Known, now: () => number = () => performance.now()) {
    this.#vitals = vitals;
    this.#now = now;
  }

  around(exchange: Exchange, handle: Handle): HandleResult {
    const start = this.#now();
    this.#inFlight++;
    return tapOutcome(
      exchange,
      handle,
      (result) => this.#end(exchange, start, outcomeOfResult(result)),
      (thrown) => this.#end(exchange, start, outcomeOfError(thrown), toCodeLabel(thrown)),
    );
  }

  /** The metrics in the text format of Prometheus, followed by those of the servers. */
  text(ofServers: readonly Family[] = []): { type: string; body: string } {
    const vitals = vitalFamilies({ ...this.#vitals(), inFlight: this.#inFlight });
    const all = [...this.#counts.families(), ...vitals, ...ofServers];
    return { type: TEXT_TYPE, body: writeFamilies(all) };
  }

  #end({ method, server = '', client }: Exchange, start: number, outcome: string, code?: string): void {
    this.#inFlight--;
    const seconds = (this.#now() - start) / 1000;
    this.#counts.add({ method: toMethodLabel(method), server, client: client.dialect, outcome, code, seconds });
  }
}

/** A finished exchange. */
interface ExchangeRecord {
  method: string;
  server: string;
  client: string;
  outcome: string;
  /** Only for failures. */
  code: string | undefined;
  seconds: number;
}

/** Upper bounds in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Counts finished exchanges by labels. It runs for every call, so a known combination of labels allocates nothing. Every label comes from a
 * fixed list or the configuration, which bounds their number.
 */
class ExchangeCounts {
  readonly #durations = new LabelledValues(['method', 'server'], () => new Durations());
  readonly #exchanges = new LabelledValues(['method', 'server', 'client', 'outcome'], () => ({ count: 0 }));
  readonly #errors = new LabelledValues(['code'], () => ({ count: 0 }));

  add({ method, server, client, outcome, code, seconds }: ExchangeRecord): void {
    this.#durations.at([method, server]).add(seconds);
    this.#exchanges.at([method, server, client, outcome]).count++;
    if (code !== undefined) this.#errors.at([code]).count++;
  }

  families(): Family[] {
    return [
      {
        name: 'parley_exchanges_total',
        help: 'Answered client requests. server is empty if no single server answered.',
        type: 'counter',
        samples: this.#exchanges.entries().map(({ labels, value }) => ({ labels, value: value.count })),
      },
      {
        name: 'parley_errors_total',
        help: 'Failed requests, by code of docs/errors.md; "server" for errors of the servers themselves.',
        type: 'counter',
        samples: this.#errors.entries().map(({ labels, value }) => ({ labels, value: value.count })),
      },
      {
        name: 'parley_exchange_duration_seconds',
        help: 'Time from a request to its answer, including the time for users to answer questions.',
        type: 'histogram',
        samples: this.#durations.entries().flatMap(({ labels, value }) => value.samples(labels)),
      },
    ];
  }
}

class Durations {
  /** One count per bucket, and a last one for longer durations. */
  readonly #counts = Array.from({ length: BUCKETS.length + 1 }, () => 0);
  #sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += seconds;
  }

  samples(labels: Record<string, string>): Sample[] {
    let count = 0;
    const buckets = this.#counts.map((more, i) => {
      const le = i < BUCKETS.length ? String(BUCKETS[i]) : '+Inf';
      return { suffix: '_bucket', labels: { le, ...labels }, value: (count += more) };
    });
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: count }];
  }
}

/** Stores values by several labels in nested maps, so that a call does not have to build a combined key. */
class LabelledValues<T> {
  readonly #names: readonly string[];
  readonly #make: () => T;
  readonly #root: Branch<T> = new Map();

  constructor(names: readonly string[], make: () => T) {
    this.#names = names;
    this.#make = make;
  }

  at(labels: readonly string[]): T {
    let found: Branch<T> | T = this.#root;
    for (let i = 0; i < labels.length; i++) {
      const branch = found as Branch<T>;
      const below = branch.get(labels[i]!);
      found = below ?? (i === labels.length - 1 ? this.#make() : new Map());
      if (below === undefined) branch.set(labels[i]!, found);
    }
    return found as T;
  }

  entries(branch = this.#root, labels: Record<string, string> = {}): { labels: Record<string, string>; value: T }[] {
    const name = this.#names[Object.keys(labels).length]!;
    return [...branch].flatMap(([label, below]) => {
      const all = { ...labels, [name]: label };
      return below instanceof Map ? this.entries(below, all) : [{ labels: all, value: below }];
    });
  }
}

type Branch<T> = Map<string, Branch<T> | T>;

// All labels come from fixed lists, so the number of time series stays bounded whatever clients and servers send. Tool names are never labels.

const METHODS = new Set([
  'capabilities',
  'completion/complete',
  'interaction.cancel',
  'interaction.getState',
  'interaction.respond',
  'interaction.start',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tools/call',
  'tools/list',
]);

/** Methods outside the protocol count as `other`. */
export function toMethodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** `tool_error`: the tool ran and reported a failure. */
function outcomeOfResult(result: ResultObject): 'ok' | 'tool_error' {
  return fieldOf(result, 'isError') === true ? 'tool_error' : 'ok';
}

/** `server_error`: an error of the server itself; otherwise named by the responsible side. */
function outcomeOfError(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return 'server_error';
  if (!(thrown instanceof GatewayError)) return 'parley_error';
  return thrown.code === 'CANCELLED' ? 'cancelled' : `${thrown.row.fault}_error`;
}

/** A code of the error table; codes chosen by servers count as one. */
function toCodeLabel(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return 'server';
  return thrown instanceof GatewayError ? thrown.code : 'INTERNAL';
}
