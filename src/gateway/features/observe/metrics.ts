// The counters of one gateway, which watch its calls from the moment that somebody can see them, and the layer that counts clients. Each gateway has its own, so that two in one process do not mix. Every label comes from a
// fixed list or the configuration, so the number of time series stays bounded whatever clients and servers send. Tool names are never labels.
import type { CallAnswer } from '../../../kernel/events/call-notes.ts';
import type { EventWatcher } from '../../../kernel/events/event-watcher.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { TargetLayer } from '../../../kernel/target.ts';
import type { Change, ClientOpening, HandleResult, Target, Watcher } from '../../../kernel/target.ts';
import { REQUEST_METHODS } from '../../../kernel/methods.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import { TEXT_TYPE, writeFamilies } from '../../../kernel/base/metric.ts';
import type { Family, Sample } from '../../../kernel/base/metric.ts';
import { GatewayError, ProtocolError, toReadable } from '../../../kernel/base/errors.ts';
import { vitalFamilies } from './vitals.ts';
import type { Vitals } from './vitals.ts';

type Time = Pick<typeof performance, 'now'>;
type Known = Omit<Vitals, 'inFlight'>;

/** Counts the clients that open and those that watch. */
export class CountedLayer extends TargetLayer {
  readonly #metrics: Metrics;
  readonly #onWatch: (watcher: Watcher) => () => void;

  /** `onWatch` gets each client that watches for changes. */
  constructor(target: Target, metrics: Metrics, onWatch: (watcher: Watcher) => () => void) {
    super(target);
    this.#metrics = metrics;
    this.#onWatch = onWatch;
  }

  /** What a client waits for at its opening: until it is known what the servers offer. */
  override async ready(opening?: ClientOpening): Promise<void> {
    if (!opening || !this.#metrics.isShown) return super.ready(opening);
    const ended = this.#metrics.opening(opening.dialect);
    await super.ready(opening).finally(ended);
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const unwatch = this.target.watch(listener, watcher);
    const leave = watcher && this.#onWatch(watcher);
    return () => {
      unwatch();
      leave?.();
    };
  }
}

/** A known combination of labels allocates nothing. */
export class Metrics implements EventWatcher {
  readonly what = 'metrics';
  readonly seesAll = true;
  /** A page shows them. */
  isShown = false;
  readonly #vitals: () => Known;
  /** Found on demand: reading the global loads a module. */
  #time: Time | undefined;
  readonly #durations = new LabelledValues(['method', 'server', 'client', 'outcome'], () => new Durations());
  readonly #errors = new LabelledValues(['code'], () => ({ count: 0 }));
  readonly #openings = new LabelledValues(['client'], () => new Durations());
  #inFlight = 0;

  constructor(vitals: () => Known, time?: Time) {
    this.#vitals = vitals;
    this.#time = time;
  }

  begin(): void {
    this.#inFlight++;
  }

  answer(call: ObservedCall, answer: CallAnswer): void {
    this.#inFlight--;
    if ('result' in answer) return this.#count(call, outcomeOfResult(answer.result));
    const thrown = toReadable(answer.thrown);
    this.#count(call, outcomeOfError(thrown));
    this.#errors.at([toCodeLabel(thrown)]).count++;
  }

  /** A client opens; returns what to call when it can be answered. */
  opening(client: string): () => void {
    const time = (this.#time ??= performance);
    const start = time.now();
    return () => this.#openings.at([client]).add((time.now() - start) / 1000);
  }

  /** The metrics in the text format of Prometheus, followed by those of the servers. */
  text(ofServers: readonly Family[] = []): { type: string; body: string } {
    const vitals = vitalFamilies({ ...this.#vitals(), inFlight: this.#inFlight });
    return { type: TEXT_TYPE, body: writeFamilies([...this.#families(), ...vitals, ...ofServers]) };
  }

  #count({ exchange, server = '', answeredMs = 0 }: ObservedCall, outcome: string): void {
    const { method, client } = exchange;
    this.#durations.at([toMethodLabel(method), server, client.dialect, outcome]).add(answeredMs / 1000);
  }

  #families(): Family[] {
    const durations = this.#durations.entries();
    return [
      {
        name: 'parley_exchanges_total',
        help: 'Answered client requests. server is empty if no single server answered.',
        type: 'counter',
        samples: durations.map(({ labels, value }) => ({ labels, value: value.count })),
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
        samples: byServer(durations)
          .entries()
          .flatMap(({ labels, value }) => value.samples(labels)),
      },
      {
        name: 'parley_opening_duration_seconds',
        help: 'How long the opening of a client waits until it is known what the servers offer.',
        type: 'histogram',
        samples: this.#openings.entries().flatMap(({ labels, value }) => value.samples(labels)),
      },
    ];
  }
}

/** Reports the outcome without delaying it. `failed` and `ended` must not throw. */
export function tapOutcome(
  exchange: Exchange,
  target: Pick<Target, 'handle'>,
  ended: (result: ResultObject) => void,
  failed: (thrown: unknown) => void,
): HandleResult {
  let answer: HandleResult;
  try {
    answer = target.handle(exchange);
  } catch (thrown) {
    failed(thrown);
    throw thrown;
  }
  if (answer instanceof Promise) answer.then(ended, failed);
  else ended(answer);
  return answer;
}

/** The histogram has fewer labels than the counter, so some durations are added up. */
function byServer(durations: Labelled<Durations>[]): LabelledValues<Durations> {
  const sums = new LabelledValues(['method', 'server'], () => new Durations());
  for (const { labels, value } of durations) sums.at([labels.method!, labels.server!]).addAll(value);
  return sums;
}

/** Upper bounds in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

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

  addAll(other: Durations): void {
    for (let i = 0; i < this.#counts.length; i++) this.#counts[i]! += other.#counts[i]!;
    this.#sum += other.#sum;
  }

  get count(): number {
    return this.#counts.reduce((sum, more) => sum + more, 0);
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

  entries(branch = this.#root, labels: Record<string, string> = {}): Labelled<T>[] {
    const name = this.#names[Object.keys(labels).length]!;
    return [...branch].flatMap(([label, below]) => {
      const all = { ...labels, [name]: label };
      return below instanceof Map ? this.entries(below, all) : [{ labels: all, value: below }];
    });
  }
}

interface Labelled<T> {
  labels: Record<string, string>;
  value: T;
}

type Branch<T> = Map<string, Branch<T> | T>;

/** What is not in the method table counts as `other`: clients could make up any number of names. */
export function toMethodLabel(method: string): string {
  return REQUEST_METHODS.has(method) ? method : 'other';
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
