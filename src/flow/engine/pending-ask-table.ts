// Everything that a body waits for now, by key.
import { PendingAsk, isPendingStep, isPendingWait } from './pending-ask.ts';
import type { AskSpec, PendingQuestion, PendingStep, PendingWait } from './pending-ask.ts';

/** What is open, by kind. */
export interface OpenAsks {
  /** Steps that have not started. */
  steps: PendingStep[];
  asks: PendingQuestion[];
  waits: PendingWait[];
}

export class PendingAskTable {
  readonly #open = new Map<string, PendingAsk>();
  readonly #uses = new Map<string, number>();
  /** The counts of keys that were used more than once. */
  readonly #loops = new Map<string, number>();

  /** The second use of a key becomes `key#2`. The order of uses is the same in every run. */
  add(spec: AskSpec): PendingAsk {
    const { key } = spec;
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    if (this.#loops.size > 0 && spec.kind !== 'step' && spec.kind !== 'sleep' && spec.kind !== 'event') {
      spec.loops = this.#loopsAround(uses);
    }
    if (uses > 1) {
      spec.key = `${key}#${uses}`;
      this.#loops.set(key, uses);
    }
    const want = new PendingAsk(spec);
    this.#open.set(spec.key, want);
    return want;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  get(key: string): PendingAsk | undefined {
    return this.#open.get(key);
  }

  delete(key: string): void {
    this.#open.delete(key);
  }

  /** Keys that were used more often than this one. If their counts change and its own does not, it is in another iteration of a loop. */
  #loopsAround(own: number): string | undefined {
    const others = [...this.#loops].filter(([, uses]) => uses > own).map(([name, uses]) => `${name}#${uses}`);
    return others.length > 0 ? others.sort().join() : undefined;
  }

  /** Removes everything but cleanup steps, which still run while the session ends. */
  clearToEnd(): PendingAsk[] {
    const gone = [...this.#open.values()].filter((want) => !(isPendingStep(want) && want.spec.options.cleanup));
    for (const { spec } of gone) this.#open.delete(spec.key);
    return gone;
  }

  started(): PendingStep[] {
    return [...this.#open.values()].filter((want): want is PendingStep => isPendingStep(want) && want.started);
  }

  /** Leaves out questions and waits that have lost a race. */
  open(): OpenAsks {
    const open: OpenAsks = { steps: [], asks: [], waits: [] };
    for (const want of this.#open.values()) {
      if (isPendingStep(want)) {
        if (!want.started) open.steps.push(want);
      } else if (want.promise.interest.isLost) continue;
      else if (isPendingWait(want)) open.waits.push(want);
      else open.asks.push(want as PendingQuestion);
    }
    return open;
  }
}

/** Of all that is open beside steps, in one text. */
export function toKeyList({ asks, waits }: Pick<OpenAsks, 'asks' | 'waits'>): string {
  return [...asks, ...waits].map(({ spec }) => spec.key).join('\0');
}
