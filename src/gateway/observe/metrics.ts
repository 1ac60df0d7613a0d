// Counters of one gateway, in a registry of its own, so that two gateways in a process do not mix.
// 1. prom-client is loaded when the counters are first asked for, or when there is much to count: it takes longer to load
//    than a gateway to start. Until then what has ended waits in a list.
// 2. What the gateway knows anyway (states, sessions) is read when it is asked for, and counted by nobody else.
import type { Exchange } from '../../protocol/exchange.ts';
import { outcomeOf, outcomeOfError, toCodeLabel, toMethodLabel } from './labels.ts';
import { follow } from './observed-target.ts';
import type { Answer, Handle } from './observed-target.ts';
import { createRecorder } from './recorder.ts';
import type { Ended, Recorder, Vitals } from './recorder.ts';

const MAX_WAITING = 1000;

export class Metrics {
  readonly #vitals: () => Omit<Vitals, 'inFlight'>;
  readonly #now: () => number;
  #inFlight = 0;
  #waiting: Ended[] = [];
  #loading: Promise<Recorder> | undefined;
  #recorder: Recorder | undefined;

  constructor(vitals: () => Omit<Vitals, 'inFlight'>, now: () => number = () => performance.now()) {
    this.#vitals = vitals;
    this.#now = now;
  }

  around(exchange: Exchange, handle: Handle): Answer {
    const start = this.#now();
    this.#inFlight++;
    const end = (outcome: string, code?: string): void => {
      this.#inFlight--;
      this.#note({
        method: toMethodLabel(exchange.method),
        server: exchange.server ?? '',
        client: exchange.client.dialect,
        outcome,
        code,
        seconds: (this.#now() - start) / 1000,
      });
    };
    return follow(
      () => handle(exchange),
      (result) => end(outcomeOf(result)),
      (thrown) => end(outcomeOfError(thrown), toCodeLabel(thrown)),
    );
  }

  /** In the text format of Prometheus. */
  async text(): Promise<{ type: string; body: string }> {
    const recorder = await this.#load();
    return recorder.text();
  }

  #note(ended: Ended): void {
    if (this.#recorder) return this.#recorder.record(ended);
    this.#waiting.push(ended);
    if (this.#waiting.length < MAX_WAITING) return;
    this.#load().catch(() => (this.#waiting = [])); // whoever asks for the counters is told
  }

  #load(): Promise<Recorder> {
    this.#loading ??= createRecorder(() => ({ ...this.#vitals(), inFlight: this.#inFlight })).then((recorder) => {
      for (const ended of this.#waiting) recorder.record(ended);
      this.#waiting = [];
      return (this.#recorder = recorder);
    });
    return this.#loading;
  }
}
