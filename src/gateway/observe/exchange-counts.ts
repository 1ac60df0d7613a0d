// Counts finished exchanges by labels. It runs for every call, so a known combination of labels allocates nothing. Every label
// comes from a fixed list or the configuration, which bounds their number.
import type { Family, Sample } from '../../shared/metric.ts';
import { LabelledValues } from './labelled-values.ts';

/** A finished exchange. */
export interface ExchangeRecord {
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

export class ExchangeCounts {
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
