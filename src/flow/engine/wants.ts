// All that a body is waiting for at the moment, by key.
import type { Spec } from './spec.ts';
import { Want, isStepWant } from './want.ts';
import type { AskWant, StepSpec, StepWant } from './want.ts';

export class Wants {
  readonly #open = new Map<string, Want>();
  readonly #uses = new Map<string, number>();
  /** Of keys that were used more than once. */
  readonly #loops = new Map<string, number>();

  /** The second use of a key is `key#2`: in the order in which the body comes by, which is the same in every run. */
  add(spec: Spec | StepSpec): Want {
    const { key } = spec;
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    if (this.#loops.size > 0 && spec.kind !== 'step') spec.loops = this.#loopsAround(uses);
    if (uses > 1) {
      spec.key = `${key}#${uses}`;
      this.#loops.set(key, uses);
    }
    const want = new Want(spec);
    this.#open.set(spec.key, want);
    return want;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  get(key: string): Want | undefined {
    return this.#open.get(key);
  }

  delete(key: string): void {
    this.#open.delete(key);
  }

  /** Keys that were used more often than this one: if their counts change while its own stays, it has moved to another turn of a loop. */
  #loopsAround(own: number): string | undefined {
    const others = [...this.#loops].filter(([, uses]) => uses > own).map(([name, uses]) => `${name}#${uses}`);
    return others.length > 0 ? others.sort().join() : undefined;
  }

  /** All of them, which are wanted no more. */
  clear(): Want[] {
    const open = [...this.#open.values()];
    this.#open.clear();
    return open;
  }

  unstarted(): StepWant[] {
    return [...this.#open.values()].filter((want): want is StepWant => isStepWant(want) && !want.started);
  }

  started(): StepWant[] {
    return [...this.#open.values()].filter((want): want is StepWant => isStepWant(want) && want.started);
  }

  asks(): AskWant[] {
    return [...this.#open.values()].filter((want): want is AskWant => !isStepWant(want));
  }
}
