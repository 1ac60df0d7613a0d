// Keeps a flood of refused requests from pushing everything else out of the audit log: in each second the first ones of a kind are recorded one by
// one, and the others as a number.
import type { AuditEvent } from '../../protocol/audit.ts';

const WINDOW_MS = 1000;
const MAX_EACH = 10;
/** Further kinds are counted as one. */
const MAX_KINDS = 32;
const OTHERS = 'others';

interface Counted {
  seen: number;
  first: AuditEvent;
}

export class RefusalCount {
  #since = 0;
  #kinds = new Map<string, Counted>();
  #ended: { at: number; event: AuditEvent }[] = [];

  /** Whether this one is recorded with a line of its own. */
  admits(event: AuditEvent, at: number): boolean {
    if (at - this.#since >= WINDOW_MS) this.#start(at);
    const key = this.#keyOf(event.outcome ?? '');
    const known = this.#kinds.get(key);
    if (known) known.seen++;
    else this.#kinds.set(key, { seen: 1, first: event });
    return (known?.seen ?? 1) <= MAX_EACH;
  }

  /** The numbers of those that were not recorded by themselves. */
  take(at: number): { at: number; event: AuditEvent }[] {
    if (at - this.#since >= WINDOW_MS) this.#start(at);
    return this.#ended.splice(0);
  }

  #keyOf(outcome: string): string {
    return this.#kinds.has(outcome) || this.#kinds.size < MAX_KINDS ? outcome : OTHERS;
  }

  #start(at: number): void {
    for (const { seen, first } of this.#kinds.values()) {
      const more = seen - MAX_EACH;
      if (more > 0) this.#ended.push({ at, event: { kind: 'refusal', outcome: first.outcome, details: { more } } });
    }
    this.#kinds.clear();
    this.#since = at;
  }
}
