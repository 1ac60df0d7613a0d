// Something that a body waits for: an answer, the result of a step, the end of a sleep, or an event. Its promise settles once or never. A body
// that is abandoned is garbage-collected, so that no `catch` or `finally` of the author runs for it.
import type { AnySchema } from '../authoring/options.ts';
import type { StepOptions, StepContext } from '../authoring/step.ts';
import type { StepEntry } from '../journal.ts';
import { Interest } from './interest.ts';
import type { QuestionSpec } from './question-spec.ts';

type Handler = ((value: never) => unknown) | null | undefined;

/** Knows whether it is awaited: `await`, `then` and `Promise.all` all read its constructor. */
export class AskPromise extends Promise<unknown> {
  interest = new Interest();

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  override then<A = unknown, B = never>(
    onFulfilled?: ((value: unknown) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.interest.join(onFulfilled, onRejected);
    return unseen(this, () => super.then(onFulfilled, onRejected));
  }

  /** A derived promise that counts as the same use. */
  seenAs(onFulfilled: Handler, onRejected: Handler): AskPromise {
    const seen = new AskPromise((resolve, reject) => {
      const then = () => super.then(onFulfilled as never, onRejected as never);
      unseen(this, then).then(resolve, reject);
    });
    seen.interest = this.interest;
    // The body may await it later; Node must not report an unhandled rejection until then.
    void unseen(seen, () => Promise.prototype.then.call(seen, undefined, () => {}));
    return seen;
  }
}
void Object.defineProperty(AskPromise.prototype, 'constructor', {
  get(this: AskPromise) {
    this.interest.looks++;
    return Promise;
  },
});

/** `then` itself reads the constructor, which must not count. */
function unseen<T>({ interest }: AskPromise, work: () => T): T {
  const { looks } = interest;
  const done = work();
  interest.looks = looks;
  return done;
}

export type AskSpec = QuestionSpec | StepSpec | SleepSpec | EventSpec;

export class PendingAsk<T extends AskSpec = AskSpec> {
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

  /** Whether an entry of the journal is of the kind that the body asks for. */
  isFor(entry: keyof typeof JOURNAL_KINDS): boolean {
    return JOURNAL_KINDS[entry] === toJournalKind(this.spec);
  }

  resolve(value: unknown): void {
    this.promise.interest.settle('fulfilled');
    this.#resolve(value);
  }

  reject(thrown: unknown): void {
    this.promise.interest.settle('rejected');
    // The body may await it later; Node must not report an unhandled rejection until then.
    void this.promise.seenAs(undefined, () => {});
    this.#reject(thrown);
  }
}

export interface StepSpec {
  key: string;
  kind: 'step';
  work: (step: StepContext) => unknown;
  options: StepOptions<unknown>;
}

/** A step that the body has called. */
export interface AskedStep {
  spec: StepSpec;
  /** A cleanup step that was called while the session ends. */
  isLate: boolean;
  outcome?: StepEntry | undefined;
}

export interface SleepSpec {
  key: string;
  kind: 'sleep';
  sleepMs: number;
}

export interface EventSpec {
  key: string;
  kind: 'event';
  schema: AnySchema | undefined;
  timeoutMs: number | undefined;
}

export type PendingQuestion = PendingAsk<QuestionSpec>;
export type PendingStep = PendingAsk<StepSpec>;
/** A wait needs no work from this process. */
export type PendingWait = PendingAsk<SleepSpec | EventSpec>;

export function isPendingStep(want: PendingAsk): want is PendingStep {
  return want.spec.kind === 'step';
}

export function isPendingWait(want: PendingAsk): want is PendingWait {
  return want.spec.kind === 'sleep' || want.spec.kind === 'event';
}

/** What the entries of the journal, and what has just arrived, are for. */
export const JOURNAL_KINDS = {
  ans: 'a question',
  in: 'a question',
  step: 'a step',
  evt: 'an event',
  arr: 'an event',
} as const;

/** A sleep is a step in the journal. */
export function toJournalKind({ kind }: AskSpec): (typeof JOURNAL_KINDS)[keyof typeof JOURNAL_KINDS] {
  if (kind === 'step' || kind === 'sleep') return 'a step';
  return kind === 'event' ? 'an event' : 'a question';
}

export function describeAsk({ key, kind }: AskSpec): string {
  const known: Partial<Record<AskSpec['kind'], string>> = { step: 'the step', sleep: 'the sleep', event: 'the event' };
  return `${known[kind] ?? 'the question'} ${key}`;
}
