// One run of a body over its journal.
// 1. The body receives entries in journal order, one at a time, and the next one only when it is quiet: when everything that the last one
//    caused has happened. So every run sees the same order, even if the body awaits several things at once.
// 2. A promise whose entry does not exist yet never settles in this run. Nothing is thrown into the body for it.
// 3. An entry that the body does not ask for when it is quiet is kept, because the question may come later.
// 4. An entry that no longer fits its question (new rules, new text of a consent) is skipped, and the question is asked again.
// 5. The early end of a session comes last: everything pending rejects, and from then on only cleanup steps are accepted.
// 6. A run waits only for the body and for running steps. It neither starts steps nor writes to the store.
import { GatewayError } from '../../kernel/base/errors.ts';
import type { ReplayEntry } from '../fold.ts';
import type { JournalEntry, StepEntry } from '../journal.ts';
import type { Complaint } from '../question/question.ts';
import {
  Entropy,
  deepFreeze,
  Ticks,
  installGlobals,
  closeWindow,
  currentBody,
  openWindow,
  runOutside,
} from './body-environment.ts';
import type { BodyEnvironment } from './body-environment.ts';
import { createAsk } from './create-ask.ts';
import type { CurrentRun } from './current-run.ts';
import { EndNotice } from './end-notice.ts';
import { ReplayQueue, toKeptEntry, matchEntry } from './match-answer.ts';
import type { IncomingAnswer, IncomingEvent, RunInput, RunTurn } from './run-input.ts';
import { findLostEffects, checkLostEffects, checkKind, checkPassedEffects, NO_EFFECTS } from './mismatch.ts';
import { checkAwaited, toNestedError, withFlowName, withPlace, fromErrorEntry } from './misuse.ts';
import { PendingAskTable, toKeyList } from './pending-ask.ts';
import type { AskSpec, AskedStep, PendingStep, PendingAsk, OpenAsks, RunEnd, RunState } from './pending-ask.ts';
import type { QuestionSpec } from './question-spec.ts';
import { StepsInFlight } from './steps-in-flight.ts';
import { checkSpans } from './span-checks.ts';
import { traceRun, installSyncChecks } from './unjournaled.ts';
import type { UnjournaledAccess } from './unjournaled.ts';
import { startWatchdog } from './watchdog.ts';

export class BodyRun implements BodyEnvironment, CurrentRun {
  readonly input: RunInput;
  turn: RunTurn;
  /** The answers that the body received, by key. */
  readonly answers: Record<string, unknown> = {};
  /** All steps that the body has called, in order, with their results. */
  readonly steps = new Map<string, AskedStep>();
  readonly replayQueue: ReplayQueue;
  readonly notes = { said: [] as string[], shown: 0 };
  /** Why answers of the journal no longer fit, by key. */
  readonly refused = new Map<string, Complaint>();
  /** The answered questions. */
  readonly answered: QuestionSpec[] = [];
  /** The answers after a changed one that are still valid. */
  readonly kept = new Set<ReplayEntry | IncomingAnswer | IncomingEvent>();
  progress: { current: number; total?: number | undefined; message?: string | undefined } | undefined;
  /** The client has not seen this progress yet. */
  isProgressNew = false;
  time: number;
  readonly entropy: Entropy;
  readonly #pending = new PendingAskTable();
  /** What the body has asked for and not awaited yet. */
  #asked: PendingAsk[] = [];
  readonly #flight = new StepsInFlight();
  readonly #ticks = new Ticks({
    act: () => this.#act(),
    rest: () => this.#restOrGoOn(),
    ended: (error) => void this.#fail(error),
  });
  #unwatch: (() => void) | undefined;
  /** The keys that were open besides running steps when that was last reported. */
  #put = '';
  readonly #end = new EndNotice();
  #fresh: JournalEntry[] = [];
  #begun = false;
  #stalled = false;
  #isLeft = false;
  #outcome: RunEnd | undefined;
  #rest: ((rest: RunState) => void) | undefined;

  constructor(input: RunInput, turn: RunTurn) {
    if (input.virtual !== false) {
      if ((turn.checks ?? 'throw') === 'throw') installSyncChecks();
      installGlobals();
    }
    startWatchdog();
    this.input = input;
    this.turn = turn;
    this.time = input.folded.start.ts;
    this.entropy = new Entropy(input.folded.start.seed);
    this.replayQueue = new ReplayQueue([...input.folded.entries, ...(turn.incoming ?? [])], (incoming) => {
      const entry = toKeptEntry(incoming, this.turn.now);
      if (entry) this.#fresh.push(entry);
      return entry;
    });
    if (turn.checks !== 'off') this.#unwatch = traceRun();
  }

  /** Continues a body that waits where its last turn left it. */
  resume(turn: RunTurn): void {
    this.turn = turn;
    this.replayQueue.add(...(turn.incoming ?? []));
    if (turn.checks !== 'off') this.#unwatch = traceRun();
  }

  /** Runs until the caller has something to do. `more`: how many entries will be added soon. */
  next(more = 0): Promise<RunState> {
    return new Promise((resolve) => {
      this.#rest = resolve;
      this.#ticks.plan(this.replayQueue.left + 3 + more);
    });
  }

  /** The same; undefined if the body waits for something that is neither a question nor a step. */
  nextUnlessStalled(more = 0): Promise<RunState | undefined> {
    return new Promise((resolve) => {
      this.turn.host = { onStall: () => resolve(undefined) };
      void this.next(more).then(resolve);
    });
  }

  /** The body has begun I/O outside of a step. */
  onUnjournaled({ what, where }: UnjournaledAccess): boolean {
    const { checks = 'throw', host } = this.turn;
    if (checks === 'off') return false;
    runOutside(() => host?.onUnjournaled?.({ what, where })); // a log may write to a file
    if (checks !== 'throw') return false;
    const tool = this.input.flow.name;
    this.#outcome ??= { kind: 'failed', error: new GatewayError('FLOW_UNJOURNALED', { tool, what, where }) };
    return true;
  }

  /** It waits only for answers, so it can stay in memory and be resumed later. */
  get canWait(): boolean {
    return !this.#stalled && this.#outcome === undefined && this.#flight.count === 0 && !this.input.folded.end;
  }

  /** `ask.signal`: aborts when the session ends. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** The session ends. The body learns of it once running effects that can be undone have finished. */
  end(why: string): void {
    this.input.folded.end ??= why;
    this.#ticks.plan(2);
  }

  /** The entries that this run has added since the last call. */
  take(): JournalEntry[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    this.#flight.isUnsaved = false;
    return fresh;
  }

  add(entry: JournalEntry): void {
    this.#fresh.push(entry);
  }

  /** Abandons this run, because another run continues. */
  leave(): void {
    this.#isLeft = true;
    this.#rest = undefined;
    this.#unwatch?.();
  }

  /** What is open besides new steps has been reported already. */
  put(open: Pick<OpenAsks, 'asks' | 'waits'>): void {
    this.#put = toKeyList(open);
  }

  /** The question has lost a race. */
  isLost(key: string): boolean {
    return this.#pending.get(key)?.promise.interest.isLost === true;
  }

  /** When a wait began: in an earlier run, or now. */
  since(key: string): number {
    return this.input.folded.intents.get(key)?.entry.ts ?? Math.max(this.time, this.turn.now);
  }

  ask(spec: AskSpec): Promise<unknown> {
    // The body runs only in its windows, so a question from outside of a window while a step runs comes from that step.
    if (this.#flight.count > 0 && currentBody() !== this)
      throw toNestedError(spec, this.#pending.started()[0], this.input.flow.name);
    if (this.#end.isGiven && !(spec.kind === 'step' && spec.options.cleanup)) return this.#refuseLate();
    const pending = this.#pending.add(spec);
    checkSpans(spec, this);
    this.#asked.push(withPlace(pending, this.turn.checks === 'throw'));
    if (spec.kind === 'step') this.steps.set(spec.key, { spec, isLate: this.#end.isGiven });
    if (currentBody() !== this) this.#ticks.plan(2);
    return pending.promise;
  }

  #refuseLate(): Promise<never> {
    const refused = this.#end.refuse(this.input.folded.end ?? '');
    if (refused) return refused;
    this.#outcome ??= { kind: 'ended', value: undefined };
    return new Promise(() => {});
  }

  /** A step has begun. The body receives its result when it is quiet, like any entry. */
  stepStarted(pending: PendingStep): void {
    this.#flight.begin(pending);
  }

  stepFinished(pending: PendingStep, entry: StepEntry): void {
    if (this.#isLeft) return;
    this.#flight.finish(pending, entry);
    this.#ticks.plan(2);
  }

  /** The body has waited too long for something that is neither a question nor a step. */
  giveUp(ms: number): void {
    if (this.#outcome || !this.#rest || this.#toRest()) return;
    this.#outcome = { kind: 'failed', error: new GatewayError('FLOW_TIMEOUT', { what: this.input.flow.name, ms }) };
    this.#quiet();
  }

  #restOrGoOn(): void {
    if (this.#rest === undefined) return;
    if (this.#hasMore()) this.#ticks.plan(this.replayQueue.left + 3);
    else this.#quiet();
  }

  /** Opens a window, and gives the body the next entry; if there is none, the run rests. */
  #act(): void {
    if (this.#rest === undefined) return;
    openWindow(this);
    try {
      if (!this.#begun) return this.#begin();
      if (this.#tell()) return;
    } catch (error) {
      this.#fail(error);
    }
    closeWindow();
    this.#quiet();
  }

  /** What an author's function throws fails the session, and nothing else. */
  #fail(error: unknown): true {
    this.#outcome ??= { kind: 'failed', error: withFlowName(error, this.input.flow.name) };
    return true;
  }

  #hasMore(): boolean {
    if (this.#outcome) return false;
    return !this.#begun || this.#flight.hasFinished || this.replayQueue.hasMore(this.#pending) || this.#canEnd();
  }

  #canEnd(): boolean {
    return this.input.folded.end !== undefined && !this.#end.isGiven && this.#flight.undoable === 0;
  }

  #begin(): void {
    this.#begun = true;
    const { flow, folded } = this.input;
    const settle = (outcome: RunEnd): void => {
      this.#outcome ??= outcome;
      if (currentBody() !== this) this.#ticks.plan(2);
    };
    const fail = (error: unknown): void => settle({ kind: 'failed', error: withFlowName(error, flow.name) });
    const body = flow.body(createAsk(this), deepFreeze(folded.start.input)) as Promise<unknown>;
    Promise.resolve(body).then((value) => settle({ kind: 'ended', value }), fail);
  }

  /** Delivers one entry to the body; false if nothing is left. */
  #tell(): boolean {
    if (this.#outcome) return false;
    for (let told = this.replayQueue.next(this.#pending); told; told = this.replayQueue.next(this.#pending)) {
      if (this.#deliver(told)) return true;
    }
    for (let done = this.#flight.take(); done; done = this.#flight.take()) {
      // The session ended before this step was done.
      if (this.#pending.get(done.entry.k) !== done.pending) continue;
      this.#keep(done.pending, done.entry);
      return this.#settle(done.pending, done.entry);
    }
    return this.#tellEnd();
  }

  #keep({ spec }: PendingStep, entry: StepEntry): void {
    if (this.lost.length > 0) entry.early = true;
    this.#fresh.push(entry);
    if (spec.options.effect) this.#flight.isUnsaved = true;
  }

  /** Rejects everything that the body waits for but cleanup steps, so that its `finally` runs. */
  #tellEnd(): boolean {
    if (!this.#canEnd()) return false;
    const ended = this.#end.give(this.input.folded.end ?? '');
    for (const pending of this.#pending.clearToEnd()) pending.reject(ended);
    return true;
  }

  /** False if it does not fit what the body asks now. */
  #deliver(told: ReplayEntry | IncomingAnswer | IncomingEvent): boolean {
    const pending = this.#pending.get(told.k) as PendingAsk;
    const isSameKind = pending.isFor(told.t);
    if (!isSameKind || this.input.folded.intents.size > 0) {
      this.#outcome ??= checkKind(this.input.flow, told, pending.spec) ?? checkPassedEffects(this, told);
      if (this.#outcome || !isSameKind) return this.#outcome !== undefined;
    }
    if (told.t === 'step') return this.#settle(pending, told);
    const found = matchEntry(told, pending, this);
    if (found === undefined) return false;
    if ('broken' in found) return this.#fail(found.broken);
    const isEvent = told.t === 'evt' || told.t === 'arr';
    if (found.entry) {
      if (found.entry.t === 'ans' && this.lost.length > 0) found.entry.early = true;
      this.#fresh.push(found.entry);
    } else if (told.t === 'ans' && told.moved) this.kept.add(told);
    this.time = Math.max(this.time, found.entry?.ts ?? (told as { ts: number }).ts); // a clock may be set back
    this.#pending.delete(told.k);
    if (!isEvent) this.answered.push(pending.spec as QuestionSpec);
    if ('error' in found) pending.reject(found.error);
    else {
      const value = deepFreeze(found.value);
      if (!isEvent) this.answers[told.k] = value;
      pending.resolve(value);
    }
    return true;
  }

  /** Effects that have begun, but that the body has not reached. */
  get lost(): readonly string[] {
    return this.input.folded.intents.size === 0 ? NO_EFFECTS : findLostEffects(this);
  }

  #settle(pending: PendingAsk, entry: StepEntry): true {
    this.time = Math.max(this.time, entry.ts);
    this.#pending.delete(entry.k);
    const step = this.steps.get(entry.k);
    if (step) step.outcome = entry;
    if (entry.e) pending.reject(fromErrorEntry(entry.e));
    else pending.resolve(deepFreeze(entry.v));
    return true;
  }

  /** Records finished steps whose results the body no longer receives. */
  #keepFinished(): void {
    for (let done = this.#flight.take(); done; done = this.#flight.take()) {
      const { pending, entry } = done;
      const step = this.steps.get(entry.k);
      if (step) step.outcome = entry;
      this.#keep(pending, entry);
    }
  }

  #quiet(): void {
    const rest = this.#toRest();
    if (!rest) {
      if (this.#outcome?.kind === 'failed') this.turn.host?.onFailing?.();
      if (this.#flight.count > 0) return;
      this.#stalled = true;
      this.turn.host?.onStall?.();
      return;
    }
    const resolve = this.#rest;
    this.#rest = undefined;
    this.#asked = this.#asked.filter(({ promise }) => !promise.interest.isAwaited);
    if (this.#flight.count === 0 && rest.kind !== 'steps' && rest.kind !== 'save') {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
    resolve?.(rest);
  }

  /** Undefined while there is still something to wait for. */
  #toRest(): RunState | undefined {
    if (this.#outcome?.kind === 'ended')
      this.#outcome =
        checkLostEffects(this, []) ??
        (this.#end.isGiven ? undefined : checkAwaited(this.#asked, this.input.flow.name)) ??
        this.#outcome;
    if (this.#outcome) {
      this.#keepFinished();
      // A failed body waits for running effects that must be undone.
      return this.#flight.undoable > 0 && this.#outcome.kind === 'failed' ? this.#toSave() : this.#outcome;
    }
    if (this.input.folded.end !== undefined && !this.#end.isGiven) return this.#toSave();
    const open = this.#pending.open();
    const { steps, asks, waits } = open;
    if (steps.length > 0) return (this.#outcome = checkLostEffects(this, steps)) ?? { kind: 'steps', ...open };
    if (this.#flight.count > 0) return this.#toSave() ?? this.#beside(open);
    return asks.length > 0 || waits.length > 0 ? { kind: 'asks', asks, waits, isBusy: false } : undefined;
  }

  /** What is open while steps run, if it has changed. */
  #beside(open: OpenAsks): RunState | undefined {
    const names = toKeyList(open);
    if (this.turn.isPatient || names === this.#put) return undefined;
    this.#put = names;
    return { kind: 'asks', asks: open.asks, waits: open.waits, isBusy: true };
  }

  #toSave(): RunState | undefined {
    return this.#flight.isUnsaved ? { kind: 'save' } : undefined;
  }
}
