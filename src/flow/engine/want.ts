// What a body is waiting for: an answer, or the result of a step. Its promise settles once, or never: a body that is not gone on
// with is simply forgotten, and so no catch or finally of the author ever sees that it was left waiting.
import type { StepOptions, StepContext } from '../authoring/step.ts';
import type { Spec } from './spec.ts';

/** Knows whether anybody has ever waited for it: `await`, `then` and `Promise.all` all look for its constructor. */
export class AskPromise extends Promise<unknown> {
  isAwaited = false;
}
void Object.defineProperty(AskPromise.prototype, 'constructor', {
  get(this: AskPromise) {
    this.isAwaited = true;
    return Promise;
  },
});

export class Want<T extends Spec | StepSpec = Spec | StepSpec> {
  readonly spec: T;
  readonly promise: AskPromise;
  started = false;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;

  constructor(spec: T) {
    this.spec = spec;
    this.promise = new AskPromise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: unknown): void {
    this.#resolve(value);
  }

  reject(thrown: unknown): void {
    // The body may look at it later than now; until then Node must not take it for one that nobody looks at.
    const { isAwaited } = this.promise;
    void this.promise.then(undefined, () => {});
    this.promise.isAwaited = isAwaited;
    this.#reject(thrown);
  }
}

export interface StepSpec {
  key: string;
  kind: 'step';
  work: (step: StepContext) => unknown;
  options: StepOptions<unknown>;
  /** It only waits: until so long after it began. */
  sleepMs?: number | undefined;
}

export type AskWant = Want<Spec>;
export type StepWant = Want<StepSpec>;

export function isStepWant(want: Want): want is StepWant {
  return want.spec.kind === 'step';
}
