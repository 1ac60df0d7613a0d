// Counters of sessions in this process, by flow. All of them are derived from writes to sessions.
import type { Family } from '../../shared/metric.ts';
import type { JournalEntry, Header } from '../journal.ts';
import { ENDED_CONDITIONS, conditionOf } from '../operator/condition.ts';
import { isEnded } from '../header.ts';

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
