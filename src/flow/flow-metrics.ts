// Metrics of sessions by flow: what this process has counted, and what is open in the whole store.
import type { Clock } from '../kernel/base/clock.ts';
import type { Log } from '../kernel/base/log.ts';
import type { Family } from '../kernel/base/metric.ts';
import { unlessLate } from '../kernel/base/timing.ts';
import { ENDED_CONDITIONS, conditionOf, isEnded, OPEN_CONDITIONS } from './header.ts';
import type { JournalEntry, Header } from './journal.ts';
import type { SessionStore } from './store/store.ts';

interface Counts {
  started: number;
  turns: number;
  parked: number;
  retries: number;
  timeouts: number;
  notUndone: number;
  ended: Record<(typeof ENDED_CONDITIONS)[number], number>;
}

/** The label for flows in the store that are not served here. */
const OTHER = 'other';

/** Counters of sessions in this process. All of them are derived from writes to sessions. */
export class FlowCounts {
  readonly #flows = new Map<string, Counts>();

  /** Sets the flows that have their own label. */
  know(names: Iterable<string>): void {
    for (const name of names) this.#flows.set(name, newCounts());
  }

  started({ tool }: Header): void {
    this.#of(tool).started++;
  }

  turned({ tool }: Header): void {
    this.#of(tool).turns++;
  }

  parked({ tool }: Header): void {
    this.#of(tool).parked++;
  }

  wrote(before: Header, after: Header, add: readonly JournalEntry[]): void {
    for (const entry of add) {
      if (entry.t === 'step' && entry.att > 1) this.#of(after.tool).retries += entry.att - 1;
      else if (entry.t === 'ans' && entry.no === 'timeout') this.#of(after.tool).timeouts++;
    }
    // A session may be parked after its undo failed, and end later.
    if (!before.notUndone) this.#of(after.tool).notUndone += after.notUndone?.length ?? 0;
    if (!isEnded(after) || isEnded(before)) return;
    this.#of(after.tool).ended[conditionOf(after) as (typeof ENDED_CONDITIONS)[number]]++;
  }

  families(): Family[] {
    const all = [...this.#flows];
    const counter = (name: string, help: string, value: (counts: Counts) => number): Family => ({
      name: `parley_flow_${name}_total`,
      help,
      type: 'counter',
      samples: all.map(([flow, counts]) => ({ labels: { flow }, value: value(counts) })),
    });
    return [
      counter('started', 'Started sessions.', ({ started }) => started),
      {
        name: 'parley_flow_ended_total',
        help: 'Ended sessions, by outcome.',
        type: 'counter',
        samples: all.flatMap(([flow, { ended }]) =>
          ENDED_CONDITIONS.map((outcome) => ({ labels: { flow, outcome }, value: ended[outcome] })),
        ),
      },
      counter('turns', 'Turns: a session ran until its next question, step or end.', ({ turns }) => turns),
      counter('parked', 'Sessions that a new version could not continue.', ({ parked }) => parked),
      counter('step_retries', 'Repeated attempts of steps.', ({ retries }) => retries),
      counter('question_timeouts', 'Questions that were not answered in time.', ({ timeouts }) => timeouts),
      counter('not_undone', 'Effects that could not be undone.', ({ notUndone }) => notUndone),
    ];
  }

  #of(tool: string): Counts {
    const known = this.#flows.get(tool) ?? this.#flows.get(OTHER);
    if (known) return known;
    const counts = newCounts();
    this.#flows.set(OTHER, counts);
    return counts;
  }
}

function newCounts(): Counts {
  const ended = { completed: 0, cancelled: 0, failed: 0, expired: 0 };
  return { started: 0, turns: 0, parked: 0, retries: 0, timeouts: 0, notUndone: 0, ended };
}

interface Around {
  store: SessionStore;
  clock: Clock;
  log: Log;
}

const EVERY_MS = 15_000;
const PATIENCE_MS = 2000;

/**
 * Counts the open sessions of the whole store by flow and condition, including those of other processes. The store is browsed page by page when
 * metrics are read, but at most every 15 s; in between the last counts are reported.
 */
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
