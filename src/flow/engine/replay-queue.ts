// The entries that a body has not received yet, in journal order. An entry that the body does not ask for when its turn comes is kept until
// the body does.
import type { ReplayEntry } from '../fold.ts';
import { PREFILLED } from '../journal.ts';
import type { AnswerEntry, EventEntry } from '../journal.ts';
import type { IncomingEvent } from './match-event.ts';
import type { IncomingAnswer } from './match-answer.ts';

/** An answer or event that has just arrived. */
type Fresh = IncomingAnswer | IncomingEvent;

interface Wanted {
  has(key: string): boolean;
}

export class ReplayQueue {
  readonly #told: (ReplayEntry | Fresh)[];
  readonly #kept = new Map<string, ReplayEntry>();
  readonly #onKept: (fresh: Fresh) => AnswerEntry | EventEntry | undefined;
  #cursor = 0;

  /** `onKept` creates the entry of an answer or event that has just arrived and that the body does not ask for. */
  constructor(told: (ReplayEntry | Fresh)[], onKept: (fresh: Fresh) => AnswerEntry | EventEntry | undefined) {
    this.#told = told;
    this.#onKept = onKept;
  }

  /** The next entry that the body asks for. Each is returned once, whether it fits or not. */
  next(wanted: Wanted): ReplayEntry | Fresh | undefined {
    return (this.#kept.size > 0 ? this.#nextKept(wanted) : undefined) ?? this.#nextTold(wanted);
  }

  #nextKept(wanted: Wanted): ReplayEntry | undefined {
    for (const [key, told] of this.#kept) {
      if (!wanted.has(key)) continue;
      this.#kept.delete(key);
      return told;
    }
    return undefined;
  }

  #nextTold(wanted: Wanted): ReplayEntry | Fresh | undefined {
    while (this.#cursor < this.#told.length) {
      const told = this.#told[this.#cursor++] as ReplayEntry | Fresh;
      if (wanted.has(told.k)) return told;
      const kept = told.t === 'in' || told.t === 'arr' ? this.#onKept(told) : told;
      if (kept) this.#kept.set(kept.k, kept);
    }
    return undefined;
  }

  add(...told: (ReplayEntry | Fresh)[]): void {
    // Drop the entries that the body has received.
    this.#told.splice(0, this.#cursor);
    this.#cursor = 0;
    this.#told.push(...told);
  }

  hasMore(wanted: Wanted): boolean {
    if (this.#cursor < this.#told.length) return true;
    return this.#kept.size > 0 && [...this.#kept.keys()].some((key) => wanted.has(key));
  }

  /** The keys that the body has not asked for. */
  get unasked(): string[] {
    return [...this.#kept.keys()];
  }

  get left(): number {
    return this.#told.length - this.#cursor;
  }

  /** Entries of earlier turns are left. Arguments do not count, since they came before the first turn. */
  get isReplaying(): boolean {
    return this.#told.slice(this.#cursor).some((told) => told.t !== 'ans' || told.ty !== PREFILLED);
  }
}
