// One run of a body over its journal.
// 1. The body is told things in the order in which they were written, one at a time, and only when it is quiet: when all that the
//    last one caused has happened. So every run sees the same order as the first, whatever runs side by side in the body.
// 2. What is not there yet is waited for by a promise that never settles in this run. Nothing is thrown into the body for it.
// 3. Something told that nobody asks for when all is quiet is kept: the question may come later, or never again.
// 4. An entry that no longer fits its question (other rules, other words of a consent) is passed over, and the question put again.
// 5. Nothing in here waits but for the body and for steps in flight; who runs them, and when it is written down, is not known here.
import type { Told } from '../fold.ts';
import type { Entry } from '../journal.ts';
import { Entropy } from './entropy.ts';
import { createAsk } from './create-ask.ts';
import { fit, toKept } from './fit.ts';
import type { Incoming } from './fit.ts';
import { installVirtual } from './virtual.ts';
import { isStepWant } from './want.ts';
import type { AskWant, StepSpec, StepWant, Want } from './want.ts';
import { Wants } from './wants.ts';
import { toMismatch } from './mismatch.ts';
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

export class Run implements Inside {
  readonly input: RunInput;
  /** Answers as the body was given them, by key. */
  readonly answers: Record<string, unknown> = {};
  /** Results of effects that can be taken back, in the order in which they came. */
  readonly undoable: { spec: StepSpec; result: unknown }[] = [];
  readonly telling: Telling;
  readonly notes: string[] = [];
  /** Answers of the journal that no longer fit, and why. */
  readonly refused = new Map<string, Complaint>();
  /** Questions that were answered. */
  readonly answered: Spec[] = [];
  /** Of the answers that follow a changed one, those that still count. */
  readonly kept = new Set<Told | Incoming>();
  progress: { current: number; total?: number | undefined; message?: string | undefined } | undefined;
  time: number;
  readonly #entropy: Entropy;
  readonly #wants = new Wants();
  readonly #finished: { want: StepWant; entry: Extract<Entry, { t: 'step' }> }[] = [];
  readonly #ticks = new Ticks((followed) => this.#onTick(followed));
  #unwatch: () => void;
  #inFlight = 0;
  #fresh: Entry[] = [];
  #unsaved = false;
  #begun = false;
  #stalled = false;
  #outcome: Outcome | undefined;
  #rest: ((rest: Rest) => void) | undefined;

  constructor(input: RunInput) {
    if (input.virtual !== false) installVirtual();
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

  /** Goes on until there is something to do that the run cannot do itself. */
  next(): Promise<Rest> {
    return new Promise((resolve) => {
      this.#rest = resolve;
      this.#ticks.plan(this.telling.left + 3);
    });
  }

  /** The body has begun something that is neither a question nor a step. */
  onTrespass({ what, where }: Trespass): void {
    const { flow, checks = 'throw', onTrespass } = this.input;
    if (checks === 'off') return;
    onTrespass?.({ what, where });
    if (checks !== 'throw' || this.#outcome) return;
    this.#outcome = { kind: 'failed', error: new GatewayError('FLOW_UNJOURNALED', { tool: flow.name, what, where }) };
  }

  /** It waits for nothing but answers, and so can be left waiting and gone on with later. */
  get canWait(): boolean {
    return !this.#stalled && this.#outcome === undefined && this.#inFlight === 0;
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
    const want = this.#wants.add(spec);
    if (inside() !== this) this.#ticks.plan(2);
    return want.promise;
  }

  /** A step has begun; its result is told when the body is quiet, like everything else. */
  stepStarted(want: StepWant): void {
    want.started = true;
    this.#inFlight++;
  }

  stepFinished(want: StepWant, entry: Extract<Entry, { t: 'step' }>): void {
    this.#inFlight--;
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
    return !this.#begun || this.#finished.length > 0 || this.telling.hasMore(this.#wants);
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
    const done = this.#finished.shift();
    if (!done) return false;
    this.#fresh.push(done.entry);
    if (done.want.spec.options.effect) this.#unsaved = true;
    this.#settle(done.want, done.entry);
    return true;
  }

  /** False if it does not fit what is asked today. */
  #deliver(told: Told | Incoming): boolean {
    const want = this.#wants.get(told.k) as Want;
    this.#outcome ??= toMismatch(this.input.flow, told, isStepWant(want));
    if (told.t === 'step') return isStepWant(want) && this.#settle(want, told);
    if (isStepWant(want)) return false;
    const answer = fit(told, want as AskWant, this);
    if (answer === undefined) return false;
    if (answer.entry) this.#fresh.push(answer.entry);
    else if (told.t === 'ans' && told.moved) this.kept.add(told);
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

  #settle(want: StepWant, entry: Extract<Entry, { t: 'step' }>): true {
    this.time = entry.ts;
    this.#wants.delete(entry.k);
    const { spec } = want;
    if (entry.e) want.reject(toThrown(entry.e));
    else {
      const result = frozen(entry.v);
      if (spec.options.effect) this.undoable.push({ spec, result });
      want.resolve(result);
    }
    return true;
  }

  #quiet(): void {
    const rest = this.#toRest();
    if (!rest) {
      if (this.#inFlight > 0) return;
      this.#stalled = true;
      this.input.onStall?.();
      return;
    }
    const resolve = this.#rest;
    this.#rest = undefined;
    if (rest.kind !== 'steps' && rest.kind !== 'save') this.#unwatch();
    resolve?.(rest);
  }

  /** Undefined while there is still something to wait for. */
  #toRest(): Rest | undefined {
    if (this.#outcome) return this.#outcome;
    const steps = this.#wants.unstarted();
    if (steps.length > 0) return { kind: 'steps', steps };
    if (this.#inFlight > 0) return this.#unsaved ? { kind: 'save' } : undefined;
    const asks = this.#wants.asks();
    return asks.length > 0 ? { kind: 'asks', asks } : undefined;
  }
}
