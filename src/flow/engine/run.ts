// One run of a body over its journal.
// 1. The body is told things in the order in which they were written, one at a time, and only when it is quiet: when all that the
//    last one caused has happened. So every run sees the same order as the first, whatever runs side by side in the body.
// 2. What is not there yet is waited for by a promise that never settles in this run. Nothing is thrown into the body for it.
// 3. Something told that nobody asks for when all is quiet is kept: the question may come later, or never again.
// 4. An entry that no longer fits its question (other rules, other words of a consent) is passed over, and the question put again.
// 5. A session that ends before its time is told to the body last of all: what it waits for rejects, and what it asks for from then on is
//    refused, but for steps that clean up.
// 6. Nothing in here waits but for the body and for steps in flight; who runs them, and when it is written down, is not known here.
import { SessionEndedError } from '../authoring/ask-failure.ts';
import type { Told } from '../fold.ts';
import type { Entry } from '../journal.ts';
import { Entropy } from './entropy.ts';
import { createAsk } from './create-ask.ts';
import { fit, toKept } from './fit.ts';
import type { Incoming } from './fit.ts';
import { install } from './checks/install.ts';
import { isStepWant } from './want.ts';
import type { AskWant, StepSpec, StepWant, Want } from './want.ts';
import { Wants } from './wants.ts';
import { lostEffects, toLost, toMismatch } from './mismatch.ts';
import { frozen } from './plain.ts';
import type { Resumption, RunInput } from './run-input.ts';
import type { Spec } from './spec.ts';
import type { Outcome, Rest } from './rest.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Complaint } from '../question/question.ts';
import { toThrown } from './thrown.ts';
import { Telling } from './telling.ts';
import { Ticks } from './ticks.ts';
import { watch } from './tracer.ts';
import type { Trespass } from './tracer.ts';
import { closeWindow, inside, openWindow } from './window.ts';
import type { Inside } from './window.ts';

/** A body that goes on asking after its session has ended is left alone after so many times. */
const MAX_REFUSALS = 100;

type StepEntry = Extract<Entry, { t: 'step' }>;

export interface AskedStep {
  spec: StepSpec;
  /** It cleans up while the session ends. */
  isLate: boolean;
  outcome?: StepEntry | undefined;
}

export class Run implements Inside {
  readonly input: RunInput;
  /** Answers as the body was given them, by key. */
  readonly answers: Record<string, unknown> = {};
  /** All steps that the body has asked for, in that order, and what came of them. */
  readonly steps = new Map<string, AskedStep>();
  readonly telling: Telling;
  readonly notes: string[] = [];
  /** Answers of the journal that no longer fit, and why. */
  readonly refused = new Map<string, Complaint>();
  /** Questions that were answered. */
  readonly answered: Spec[] = [];
  /** Of the answers that follow a changed one, those that still count. */
  readonly kept = new Set<Told | Incoming>();
  progress: { current: number; total?: number | undefined; message?: string | undefined } | undefined;
  /** The body has just said so, and nobody was told yet. */
  isProgressNew = false;
  time: number;
  readonly #entropy: Entropy;
  readonly #wants = new Wants();
  /** Until somebody has waited for them. */
  #asked: Want[] = [];
  readonly #finished: { want: StepWant; entry: StepEntry }[] = [];
  readonly #ticks = new Ticks((followed) => this.#onTick(followed));
  #unwatch: () => void;
  #inFlight = 0;
  /** Of those, effects that can be taken back. */
  #undoable = 0;
  #aborting: AbortController | undefined;
  /** The body was told that the session ends. */
  #isEnding = false;
  #refusals = 0;
  #fresh: Entry[] = [];
  #unsaved = false;
  #begun = false;
  #stalled = false;
  #outcome: Outcome | undefined;
  #rest: ((rest: Rest) => void) | undefined;

  constructor(input: RunInput) {
    install(input);
    this.input = input;
    this.time = input.folded.start.ts;
    this.#entropy = new Entropy(input.folded.start.seed);
    this.telling = new Telling([...input.folded.told, ...input.incoming], (incoming) => {
      const entry = toKept(incoming, input.now);
      if (entry) this.#fresh.push(entry);
      return entry;
    });
    this.#unwatch = watch(input);
  }

  /** The body waits where its last turn has left it, and is told what has come since. */
  resume(given: Resumption): void {
    Object.assign(this.input, given);
    this.telling.add(...given.incoming);
    this.#unwatch = watch(this.input);
  }

  /** Goes on until there is something to do that the run cannot do itself. `more`: it is soon told so many things besides. */
  next(more = 0): Promise<Rest> {
    return new Promise((resolve) => {
      this.#rest = resolve;
      this.#ticks.plan(this.telling.left + 3 + more);
    });
  }

  /** The body has begun something that is neither a question nor a step. */
  onTrespass({ what, where }: Trespass): boolean {
    const { flow, checks = 'throw', onTrespass } = this.input;
    if (checks === 'off') return false;
    onTrespass?.({ what, where });
    if (checks !== 'throw') return false;
    this.#outcome ??= { kind: 'failed', error: new GatewayError('FLOW_UNJOURNALED', { tool: flow.name, what, where }) };
    return true;
  }

  /** It waits for nothing but answers, and so can be left waiting and gone on with later. */
  get canWait(): boolean {
    return !this.#stalled && this.#outcome === undefined && this.#inFlight === 0 && !this.input.folded.end;
  }

  /** The body's own view of the end of its session. */
  get signal(): AbortSignal {
    if (!this.#aborting) {
      this.#aborting = new AbortController();
      if (this.#isEnding) this.#aborting.abort();
    }
    return this.#aborting.signal;
  }

  /** The session ends: the body is told once the effects in flight that can be taken back have come to their end. */
  end(why: string): void {
    this.input.folded.end ??= why;
    this.#ticks.plan(2);
  }

  /** Entries that this run has added since it was last asked. */
  take(): Entry[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    this.#unsaved = false;
    return fresh;
  }

  bytes(count: number): Buffer {
    return this.#entropy.bytes(count);
  }

  add(entry: Entry): void {
    this.#fresh.push(entry);
  }

  ask(spec: Spec | StepSpec): Promise<unknown> {
    // The body runs only in its windows. A question that comes while a step runs, outside of a window, comes from that step.
    if (this.#inFlight > 0 && inside() !== this) throw this.#toNested(spec);
    if (this.#isEnding && !(spec.kind === 'step' && spec.options.cleanup)) return this.#refuseLate();
    const want = this.#wants.add(spec);
    this.#asked.push(want);
    if (spec.kind === 'step') this.steps.set(spec.key, { spec, isLate: this.#isEnding });
    if (inside() !== this) this.#ticks.plan(2);
    return want.promise;
  }

  #toNested({ key, kind }: Spec | StepSpec): GatewayError {
    const [running] = this.#wants.started();
    const what = kind === 'step' ? `the step ${key}` : `the question ${key}`;
    return new GatewayError('FLOW_MISUSED', {
      reason: `${what} inside of the step ${running?.spec.key ?? ''}; a step neither asks nor has steps, the body does`,
    });
  }

  /** What the body has asked for and never waited for: an effect would be left half done, an answer unread. */
  #toForgotten(): Outcome | undefined {
    const forgotten = this.#asked.find(({ promise }) => !promise.isAwaited);
    if (!forgotten || this.#isEnding) return undefined;
    const { key, kind } = forgotten.spec;
    const reason = `${kind === 'step' ? 'the step' : 'the question'} ${key} without awaiting it`;
    return { kind: 'failed', error: new GatewayError('FLOW_MISUSED', { reason }) };
  }

  /** A body that catches everything and asks again and again would never come to rest: it is left where it is. */
  #refuseLate(): Promise<never> {
    if (++this.#refusals > MAX_REFUSALS) {
      this.#outcome ??= { kind: 'ended', value: undefined };
      return new Promise(() => {});
    }
    const refused = Promise.reject(new SessionEndedError(this.input.folded.end ?? ''));
    refused.catch(() => {});
    return refused;
  }

  /** A step has begun; its result is told when the body is quiet, like everything else. */
  stepStarted(want: StepWant): void {
    want.started = true;
    this.#inFlight++;
    if (want.spec.options.undo) this.#undoable++;
  }

  stepFinished(want: StepWant, entry: StepEntry): void {
    this.#inFlight--;
    if (want.spec.options.undo) this.#undoable--;
    this.#finished.push({ want, entry });
    this.#ticks.plan(2);
  }

  /** The body has waited too long for something of its own. */
  giveUp(ms: number): void {
    if (this.#outcome || !this.#rest || this.#toRest()) return;
    this.#outcome = { kind: 'failed', error: new GatewayError('FLOW_TIMEOUT', { what: this.input.flow.name, ms }) };
    this.#quiet();
  }

  #onTick(followed: boolean): void {
    if (this.#rest === undefined) return;
    if (!followed) return this.#atEndOfBatch();
    openWindow(this);
    if (!this.#begun) return this.#begin();
    if (this.#tell()) return;
    closeWindow();
    this.#quiet();
  }

  #atEndOfBatch(): void {
    if (this.#hasMore()) this.#ticks.plan(this.telling.left + 3);
    else this.#quiet();
  }

  #hasMore(): boolean {
    if (this.#outcome) return false;
    return !this.#begun || this.#finished.length > 0 || this.telling.hasMore(this.#wants) || this.#canEnd();
  }

  #canEnd(): boolean {
    return this.input.folded.end !== undefined && !this.#isEnding && this.#undoable === 0;
  }

  #begin(): void {
    this.#begun = true;
    const { flow, folded } = this.input;
    const settle = (outcome: Outcome): void => {
      this.#outcome ??= outcome;
      if (inside() !== this) this.#ticks.plan(2);
    };
    const fail = (error: unknown): void => settle({ kind: 'failed', error });
    try {
      const body = flow.body(createAsk(this), frozen(folded.start.input)) as Promise<unknown>;
      Promise.resolve(body).then((value) => settle({ kind: 'ended', value }), fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Tells the body one thing; false if there is none. */
  #tell(): boolean {
    if (this.#outcome) return false;
    for (let told = this.telling.next(this.#wants); told; told = this.telling.next(this.#wants)) {
      if (this.#deliver(told)) return true;
    }
    for (let done = this.#finished.shift(); done; done = this.#finished.shift()) {
      // The session ended before it was done, and it can be forgotten.
      if (this.#wants.get(done.entry.k) !== done.want) continue;
      this.#keep(done.want, done.entry);
      return this.#settle(done.want, done.entry);
    }
    return this.#tellEnd();
  }

  #keep({ spec }: StepWant, entry: StepEntry): void {
    if (this.lost.length > 0) entry.early = true;
    this.#fresh.push(entry);
    if (spec.options.effect) this.#unsaved = true;
  }

  /** Everything that the body waits for rejects: its `finally` runs. */
  #tellEnd(): boolean {
    if (!this.#canEnd()) return false;
    this.#isEnding = true;
    const ended = new SessionEndedError(this.input.folded.end ?? '');
    this.#aborting?.abort(ended);
    for (const want of this.#wants.clear()) want.reject(ended);
    return true;
  }

  /** False if it does not fit what is asked today. */
  #deliver(told: Told | Incoming): boolean {
    const want = this.#wants.get(told.k) as Want;
    this.#outcome ??= toMismatch(this.input.flow, told, isStepWant(want)) ?? this.#passed(told);
    if (this.#outcome) return true;
    if (told.t === 'step') return isStepWant(want) && this.#settle(want, told);
    if (isStepWant(want)) return false;
    const answer = fit(told, want as AskWant, this);
    if (answer === undefined) return false;
    if (answer.entry) {
      if (this.lost.length > 0) answer.entry.early = true;
      this.#fresh.push(answer.entry);
    } else if (told.t === 'ans' && told.moved) this.kept.add(told);
    this.time = answer.entry?.ts ?? (told as { ts: number }).ts;
    this.#wants.delete(told.k);
    this.answered.push((want as AskWant).spec);
    if ('error' in answer) want.reject(answer.error);
    else {
      const value = frozen(answer.value);
      this.answers[told.k] = value;
      want.resolve(value);
    }
    return true;
  }

  /** Told something that came after an effect, though the body has not come by the effect: it has gone another way. */
  #passed(told: Told | Incoming): Outcome | undefined {
    const { flow, folded, unasked = [] } = this.input;
    if (folded.intents.size === 0 || (told.t !== 'in' && told.early)) return undefined;
    const before = new Set(this.telling.unasked);
    const passed = this.lost.filter((key) => before.has(key) && !(told.t === 'in' && unasked.includes(key)));
    return toLost(flow, passed);
  }

  /** Effects that have begun, and that the body has not come by. */
  get lost(): string[] {
    return lostEffects(this.input.folded, this.steps);
  }

  /** An effect that nobody asks for any more must not be done again under another name, nor be forgotten. */
  #lost(steps: StepWant[]): Outcome | undefined {
    const { flow, folded } = this.input;
    const isNew = ({ spec }: StepWant) => spec.options.effect !== undefined && !folded.intents.has(spec.key);
    if (steps.length > 0 && !steps.some(isNew)) return undefined;
    return toLost(flow, this.lost, steps.filter(isNew));
  }

  #settle(want: StepWant, entry: StepEntry): true {
    this.time = entry.ts;
    this.#wants.delete(entry.k);
    const step = this.steps.get(entry.k);
    if (step) step.outcome = entry;
    if (entry.e) want.reject(toThrown(entry.e));
    else want.resolve(frozen(entry.v));
    return true;
  }

  /** Clients no longer hear about them, but finished work is still recorded. */
  #keepFinished(): void {
    for (const { want, entry } of this.#finished.splice(0)) {
      const step = this.steps.get(entry.k);
      if (step) step.outcome = entry;
      this.#keep(want, entry);
    }
  }

  #quiet(): void {
    const rest = this.#toRest();
    if (!rest) {
      if (this.#outcome?.kind === 'failed') this.input.onFailing?.();
      if (this.#inFlight > 0) return;
      this.#stalled = true;
      this.input.onStall?.();
      return;
    }
    const resolve = this.#rest;
    this.#rest = undefined;
    this.#asked = this.#asked.filter(({ promise }) => !promise.isAwaited);
    if (rest.kind !== 'steps' && rest.kind !== 'save') this.#unwatch();
    resolve?.(rest);
  }

  /** Undefined while there is still something to wait for. */
  #toRest(): Rest | undefined {
    if (this.#outcome?.kind === 'ended') this.#outcome = this.#lost([]) ?? this.#toForgotten() ?? this.#outcome;
    if (this.#outcome) {
      this.#keepFinished();
      // What can be taken back comes to its end first, unless it is to stay.
      return this.#undoable > 0 && this.#outcome.kind === 'failed' ? this.#toSave() : this.#outcome;
    }
    if (this.input.folded.end !== undefined && !this.#isEnding) return this.#toSave();
    const steps = this.#wants.unstarted();
    if (steps.length > 0) return (this.#outcome = this.#lost(steps)) ?? { kind: 'steps', steps };
    if (this.#inFlight > 0) return this.#toSave();
    const asks = this.#wants.asks();
    return asks.length > 0 ? { kind: 'asks', asks } : undefined;
  }

  #toSave(): Rest | undefined {
    return this.#unsaved ? { kind: 'save' } : undefined;
  }
}
