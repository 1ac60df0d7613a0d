// Everything that a body waits for: answers, results of steps, ends of sleeps, and events. A promise settles once or never. A body that is
// abandoned is garbage-collected, so that no `catch` or `finally` of the author runs for it.
import type { AnySchema } from '../authoring/options.ts';
import type { StepOptions, StepContext } from '../authoring/step.ts';
import type { StepEntry } from '../journal.ts';
import type { QuestionSpec } from './question-spec.ts';

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

export type PendingQuestion = PendingAsk<QuestionSpec>;
export type PendingStep = PendingAsk<StepSpec>;
/** A wait needs no work from this process. */
export type PendingWait = PendingAsk<SleepSpec | EventSpec>;

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

/** One `Promise.race` or `Promise.any`: its members pass their outcome to the same function. */
interface Joint {
  readonly onRejected: unknown;
  members: number;
  /** All members also share `onRejected`, so a rejection ends it too. */
  isRace: boolean;
  isOver: boolean;
}

const joints = new WeakMap<object, Joint>();
const NATIVE = 'function () { [native code] }';

/**
 * Whether the body still uses the promise of a question, so that a question that has lost a race is withdrawn. JavaScript does not report
 * this, but `Promise.race` passes the same two functions to `then` of each member. A promise is lost when all its uses are races that other
 * members have won.
 */
class Interest {
  /** `await`, `Promise.resolve` and the combinators each read the constructor of the promise once. */
  looks = 0;
  /** One for each call of `then`; undefined if it is not part of a race. */
  #thens: (Joint | undefined)[] | undefined;
  #settled: 'fulfilled' | 'rejected' | undefined;

  get isAwaited(): boolean {
    return this.looks > 0 || this.#thens !== undefined;
  }

  /** It was used only in races that are over. */
  get isLost(): boolean {
    const thens = this.#thens;
    if (!thens || this.looks !== thens.length) return false;
    return thens.every((joint) => joint !== undefined && joint.members > 1 && joint.isOver);
  }

  /** Records a call of `then`. */
  join(onFulfilled: unknown, onRejected: unknown): void {
    const joint = toJoint(onFulfilled, onRejected);
    if (joint && this.#settled) end(joint, this.#settled);
    (this.#thens ??= []).push(joint);
  }

  settle(how: 'fulfilled' | 'rejected'): void {
    this.#settled = how;
    for (const joint of this.#thens ?? []) if (joint) end(joint, how);
  }
}

/** An author may pass the same handlers twice; that is not a race. */
function toJoint(onFulfilled: unknown, onRejected: unknown): Joint | undefined {
  if (typeof onFulfilled !== 'function' || Function.prototype.toString.call(onFulfilled) !== NATIVE) return undefined;
  const known = joints.get(onFulfilled);
  if (!known) {
    const joint = { onRejected, members: 1, isRace: true, isOver: false };
    joints.set(onFulfilled, joint);
    return joint;
  }
  known.members++;
  known.isRace &&= known.onRejected === onRejected;
  return known;
}

function end(joint: Joint, how: 'fulfilled' | 'rejected'): void {
  joint.isOver ||= how === 'fulfilled' || joint.isRace;
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

/** What is open, by kind. */
export interface OpenAsks {
  /** Steps that have not started. */
  steps: PendingStep[];
  asks: PendingQuestion[];
  waits: PendingWait[];
}

/** Everything that a body waits for now, by key. */
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
    const pending = new PendingAsk(spec);
    this.#open.set(spec.key, pending);
    return pending;
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
    const gone = [...this.#open.values()].filter(
      (pending) => !(isPendingStep(pending) && pending.spec.options.cleanup),
    );
    for (const { spec } of gone) this.#open.delete(spec.key);
    return gone;
  }

  started(): PendingStep[] {
    return [...this.#open.values()].filter(
      (pending): pending is PendingStep => isPendingStep(pending) && pending.started,
    );
  }

  /** Leaves out questions and waits that have lost a race. */
  open(): OpenAsks {
    const open: OpenAsks = { steps: [], asks: [], waits: [] };
    for (const pending of this.#open.values()) {
      if (isPendingStep(pending)) {
        if (!pending.started) open.steps.push(pending);
      } else if (pending.promise.interest.isLost) continue;
      else if (isPendingWait(pending)) open.waits.push(pending);
      else open.asks.push(pending as PendingQuestion);
    }
    return open;
  }
}

function isPendingStep(pending: PendingAsk): pending is PendingStep {
  return pending.spec.kind === 'step';
}

function isPendingWait(pending: PendingAsk): pending is PendingWait {
  return pending.spec.kind === 'sleep' || pending.spec.kind === 'event';
}

/** Of all that is open beside steps, in one text. */
export function toKeyList({ asks, waits }: Pick<OpenAsks, 'asks' | 'waits'>): string {
  return [...asks, ...waits].map(({ spec }) => spec.key).join('\0');
}

/** Where a run stops and returns to its caller. */
export type RunState =
  | { kind: 'ended'; value: unknown }
  | { kind: 'failed'; error: unknown }
  /** Steps to start, and the questions and waits that are open besides. */
  | { kind: 'steps'; steps: PendingStep[]; asks: PendingQuestion[]; waits: PendingWait[] }
  /** An effect has finished while other steps still run, and should be committed now. */
  | { kind: 'save' }
  /** It waits for answers, sleeps or events. `isBusy`: steps are still running. */
  | { kind: 'asks'; asks: PendingQuestion[]; waits: PendingWait[]; isBusy: boolean };

export type RunEnd = Extract<RunState, { kind: 'ended' | 'failed' }>;
export type AskState = Extract<RunState, { kind: 'asks' }>;

/** The caller must start steps or commit before the run continues. */
export function hasWork({ kind }: RunState): boolean {
  return kind === 'steps' || kind === 'save';
}

/** Questions or waits are open while steps run. */
export function isBusy(rest: RunState): rest is AskState & { isBusy: true } {
  return rest.kind === 'asks' && rest.isBusy;
}
