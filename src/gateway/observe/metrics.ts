// The counters of one gateway. Each gateway has its own, so that two in one process do not mix.
import type { Handle, HandleResult } from '../../protocol/target.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import type { Family } from '../../shared/metric.ts';
import { ExchangeCounts } from './exchange-counts.ts';
import { TEXT_TYPE, writeFamilies } from './exposition.ts';
import { outcomeOfResult, outcomeOfError, toCodeLabel, toMethodLabel } from './labels.ts';
import { tapOutcome } from './observed-layer.ts';
import { vitalFamilies } from './vitals.ts';
import type { Vitals } from './vitals.ts';

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
