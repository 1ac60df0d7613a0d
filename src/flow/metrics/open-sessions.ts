// Counts the open sessions of the whole store by flow and condition, including those of other processes. The store is browsed page by page
// when metrics are read, but at most every 15 s; in between the last counts are reported.
import type { Clock } from '../../shared/clock.ts';
import type { Family } from '../../shared/metric.ts';
import type { Log } from '../../shared/log.ts';
import { unlessLate } from '../../shared/timing.ts';
import { OPEN_CONDITIONS, conditionOf } from '../operator/condition.ts';
import type { FlowStore } from '../store/store.ts';
import { isEnded } from '../header.ts';

interface Around {
  store: FlowStore;
  clock: Clock;
  log: Log;
}

const EVERY_MS = 15_000;
const PATIENCE_MS = 2000;
const OTHER = 'other';

export class OpenSessions {
  readonly #around: Around;
  readonly #flows: readonly string[];
  #found: Map<string, number> | undefined;
  #lookedAt = -Infinity;
  #looking = Promise.resolve();

  constructor(around: Around, flows: Iterable<string>) {
    this.#around = around;
    this.#flows = [...flows];
  }

  /** Returns the last counts. Only the first look is awaited, and briefly, so that other metrics do not fail with the store. */
  async family(): Promise<Family> {
    const looking = this.#lookAgain();
    if (!this.#found) await unlessLate(looking, this.#around.clock, PATIENCE_MS);
    const samples = [...(this.#found ?? [])].map(([key, value]) => {
      const [flow, state] = JSON.parse(key) as [string, string];
      return { labels: { flow, state }, value };
    });
    return { name: 'parley_flow_sessions', help: 'Open sessions in the store, by state.', type: 'gauge', samples };
  }

  #lookAgain(): Promise<void> {
    const { clock, log } = this.#around;
    if (clock.now() - this.#lookedAt < EVERY_MS) return this.#looking;
    this.#lookedAt = clock.now();
    this.#looking = this.#look().catch((error: unknown) => log.warn({ error }, 'flow.store-failed'));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const found = new Map(
      this.#flows.flatMap((flow) => OPEN_CONDITIONS.map((state) => [JSON.stringify([flow, state]), 0])),
    );
    for await (const page of this.#around.store.browse?.() ?? []) {
      for (const { header } of page) {
        if (isEnded(header)) continue;
        const flow = this.#flows.includes(header.tool) ? header.tool : OTHER;
        const key = JSON.stringify([flow, conditionOf(header)]);
        found.set(key, (found.get(key) ?? 0) + 1);
      }
      // Let other work run between two pages.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#found = found;
  }
}
