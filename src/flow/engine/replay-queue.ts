// What is still to be told to a body, in the order in which it was written. What nobody asks for when its turn comes is kept, and
// told when somebody does.
import type { ReplayEntry } from '../fold.ts';
import { PREFILLED } from '../journal.ts';
import type { AnswerEntry, EventEntry } from '../journal.ts';
import type { IncomingEvent } from './match-event.ts';
import type { IncomingAnswer } from './match-answer.ts';

/** Something that has just come. */
type Fresh = IncomingAnswer | IncomingEvent;

interface Wanted {
  has(key: string): boolean;
}

export class ReplayQueue {
  readonly #told: (ReplayEntry | Fresh)[];
  readonly #kept = new Map<string, ReplayEntry>();
  readonly #onKept: (fresh: Fresh) => AnswerEntry | EventEntry | undefined;
  #cursor = 0;

  /** `onKept` makes an entry of an answer that has just come and is not asked for. */
  constructor(told: (ReplayEntry | Fresh)[], onKept: (fresh: Fresh) => AnswerEntry | EventEntry | undefined) {
    this.#told = told;
    this.#onKept = onKept;
  }

  /** The next thing that is wanted. It is told only once, whether it fits or not. */
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
    // Of what was told nothing is needed any more.
    this.#told.splice(0, this.#cursor);
    this.#cursor = 0;
    this.#told.push(...told);
  }

  hasMore(wanted: Wanted): boolean {
    if (this.#cursor < this.#told.length) return true;
    return this.#kept.size > 0 && [...this.#kept.keys()].some((key) => wanted.has(key));
  }

  /** What nobody has asked for. */
  get unasked(): string[] {
    return [...this.#kept.keys()];
  }

  get left(): number {
    return this.#told.length - this.#cursor;
  }

  /** Something is left that came after the body had been here before; arguments came before. */
  get isReplaying(): boolean {
    return this.#told.slice(this.#cursor).some((told) => told.t !== 'ans' || told.ty !== PREFILLED);
  }
}
