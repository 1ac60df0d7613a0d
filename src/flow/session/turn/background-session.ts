// A session that goes on in the background: steps run in this process while questions are open, or effects are undone. A TurnRunner creates
// it when its body calls a step; most turns need none of it.
// 1. Once an effect has begun, this process holds a lease. Other processes append what arrives meanwhile (answers, events, ended sleeps), and
//    a new run of the body reads it here before anything else is written. So the body always sees journal order.
// 2. An early end is committed first. Then running effects finish, the body cleans up, and effects are undone; only then the session has
//    ended. If this process dies meanwhile, the next one does the rest.
import { Cancellation } from '../../../kernel/base/cancellation.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { unlessAborted, unlessLate } from '../../../kernel/base/timing.ts';
import { toMs } from '../../authoring/span.ts';
import type { BodyRun } from '../../engine/body-run.ts';
import { isMismatch } from '../../engine/mismatch.ts';
import { isMisuse } from '../../engine/misuse.ts';
import { hasWork, isBusy } from '../../engine/pending-ask.ts';
import type { AskState, RunState } from '../../engine/pending-ask.ts';
import { earlyEndOf, hasSameQuestions, isEnded, toClientHeader } from '../../header.ts';
import type { EarlyEnd, Header } from '../../journal.ts';
import { findUndoable, unwind } from './undo-effects.ts';
import type { SessionContext } from '../context/session-context.ts';
import { openStored } from '../values/load-session.ts';
import { isLimitError } from './commits.ts';
import { RunningSteps } from './running-steps.ts';
import { HolderWatch } from './session-holder.ts';
import { draftEnded, draftEnding, draftFailure, draftWorking, takeNewProgress } from './turn-changes.ts';
import type { RunningTurn } from './running-turn.ts';
import type { LiveSession } from './turn-request.ts';
import type { Turn, TurnDraft } from './turn.ts';

/** How long a request that ends a session waits for the undos, which continue after it. */
export const ENDING_GRACE_MS = 2000;

const CHANGED = Symbol('the session was changed');

export class BackgroundSession implements LiveSession {
  readonly steps: RunningSteps;
  done!: Promise<Turn>;
  readonly #runner: RunningTurn;
  readonly #watch: HolderWatch;
  readonly #next = new NextValue<Turn>();
  /** Another process has written entries for this one. */
  readonly #changed = new NextValue<typeof CHANGED>();
  /** Aborts when this process leaves the session. */
  readonly #stop = new Cancellation();
  /** The last turn asked something while steps ran, so no request waits for the next one. */
  #isAsking = false;
  #offFirstQuestion = (): void => {};

  constructor(runner: RunningTurn) {
    this.#runner = runner;
    this.steps = new RunningSteps(runner.input, { work: runner.signal, cleanup: this.#stop });
    this.#watch = new HolderWatch(runner.input, runner.commits, () => this.look());
  }

  get id(): string {
    return this.#runner.input.header.id;
  }

  get next(): Promise<Turn> {
    return this.#next.promise;
  }

  look(): void {
    this.#changed.tell(CHANGED);
  }

  abort(): void {
    this.#runner.signal.abort();
    this.#stop.abort();
  }

  /** Steps without effects have a short time to finish before the session goes to the background. */
  async startAt(rest: RunState): Promise<Turn | undefined> {
    const { run, input, ending } = this.#runner;
    const { steps, waits } = rest.kind === 'steps' ? rest : { steps: [], waits: [] };
    const isReading = steps.every(({ spec }) => spec.options.effect === undefined);
    // Waits must be committed before a step may cause their event.
    if (!isReading || waits.length > 0 || run.input.folded.intents.size > 0 || ending) return this.toBackground(rest);
    this.#start(rest, false);
    const { quick, asked, next } = await runInGrace(run, input.context);
    return quick ? this.#runner.settle(quick) : this.toBackground(asked, next);
  }

  /** Acknowledges the answer while the steps run on. */
  async toBackground(rest: RunState | undefined, running?: Promise<RunState>): Promise<Turn | undefined> {
    const runner = this.#runner;
    if (rest && this.#isUnknown(rest)) return runner.settle(await runner.run.next());
    const draft = this.#draftAtWork(rest);
    const add = [...draft.add, ...this.steps.intents(runner.run, rest)];
    const header = await runner.write(draft.patch, add, { takesLease: true });
    if (!header) return undefined;
    if (rest) this.#start(rest);
    return this.#live(header, draft, running ?? runner.run.next());
  }

  /** Ends the session while its steps run here. The end is committed at once; `#goOn` does the rest. */
  async end(ending: EarlyEnd): Promise<void> {
    const runner = this.#runner;
    if (runner.ending) return;
    runner.begin(ending);
    try {
      const { patch, add } = draftEnding(runner, ending);
      await runner.commits.write(patch, add);
    } catch (error) {
      runner.input.context.log.error({ error, tool: runner.input.flow.name }, 'flow.broken');
      this.abort();
    }
  }

  async #live(header: Header, { turn }: TurnDraft, running: Promise<RunState>): Promise<Turn> {
    const runner = this.#runner;
    const { ending, incoming, host, context } = runner.input;
    const isAwaited = ending?.kind === 'cancel' || incoming !== undefined;
    runner.isLive = true;
    this.#watch.set(header);
    const { next } = this;
    const isAsking = turn.questions.length > 0;
    if (isAsking) this.#tell({ header, ...turn });
    else this.#limitFirstQuestion();
    this.done = this.#goOn(running);
    host.onLive(this);
    if (isAsking) return { header, ...turn };
    if (!runner.ending || !isAwaited) return { header: toClientHeader(header), ...turn, next };
    const quick = await unlessLate(next, context.clock, ENDING_GRACE_MS);
    // A failure is reported when it is over; a cancel need not wait.
    return quick ?? { header: runner.ending.kind === 'cancel' ? toClientHeader(header) : header, ...turn, next };
  }

  /** All current waiters get the same turn; later ones get the turn after it. */
  #tell(turn: Turn): void {
    this.#next.tell(turn);
    if (this.#isAsking) this.#runner.input.host.onMoved(turn);
    this.#isAsking = turn.questions.length > 0 && !isEnded(turn.header);
  }

  /** Fails a flow that does not reach its first question in time. Later questions have only the limits of their steps. */
  #limitFirstQuestion(): void {
    const { context, flow, stored } = this.#runner.input;
    if (stored) return;
    const { firstQuestion } = flow.options;
    const ms = firstQuestion === undefined ? context.limits.firstQuestionMs : toMs(firstQuestion, 'firstQuestion');
    this.#offFirstQuestion = context.clock.after(ms, () => {
      const late = new GatewayError('FLOW_TIMEOUT', { what: flow.name, ms });
      const { patch, turn } = draftFailure(this.#runner, late);
      void this.end({ kind: 'fail', reason: patch.reason, failure: turn.failure });
    });
  }

  async #goOn(running: Promise<RunState>): Promise<Turn> {
    const turn = await this.#goOnToEnd(running);
    this.#tell(turn);
    return turn;
  }

  async #goOnToEnd(running: Promise<RunState>): Promise<Turn> {
    const runner = this.#runner;
    const { commits } = runner;
    try {
      for (let coming = running; ; coming = runner.run.next()) {
        try {
          const rest = await unlessAborted(Promise.race([coming, this.#changed.promise]), this.#stop);
          if (rest === CHANGED) await this.#catchUp();
          const turn = rest ? rest !== CHANGED && (await this.#goOnFrom(rest)) : await commits.current();
          if (commits.isBehind) await this.#catchUp();
          if (turn) return turn;
        } catch (error) {
          if (runner.ending || !isFinal(error)) throw error;
          runner.fail(error);
        }
      }
    } catch (error) {
      if (isMismatch(error)) await runner.setAside(error);
      else runner.input.context.log.error({ error, tool: runner.input.flow.name }, 'flow.broken');
      return commits.current();
    } finally {
      this.#offFirstQuestion();
      this.#watch.stop();
      await commits.releaseLease();
    }
  }

  /** Undefined while more is to come. */
  async #goOnFrom(rest: RunState): Promise<Turn | undefined> {
    const runner = this.#runner;
    if (!hasWork(rest) && !isBusy(rest)) {
      const draft = await runner.toDraft(rest);
      if (draft) return (await runner.commit(draft)) ?? this.#overtaken();
      return rest.kind === 'asks' ? undefined : this.#unwind();
    }
    if (this.#isUnknown(rest)) return undefined;
    const before = runner.commits.header;
    const { patch, add, turn } = this.#draftStillAtWork(rest);
    const header = await runner.write(patch, [...add, ...this.steps.intents(runner.run, rest)]);
    if (!header) return this.#overtaken();
    if (isEnded(header)) return runner.commits.current();
    this.#start(rest);
    if (turn.questions.length > 0) {
      this.#offFirstQuestion();
      if (!hasSameQuestions(before, header)) this.#tell({ header, ...turn });
    }
    this.#watch.set(header);
    return undefined;
  }

  /** Empty if nothing is or was open, because the owner may have asked a question of its own. */
  #draftStillAtWork(rest: RunState): TurnDraft {
    const { commits, ending } = this.#runner;
    const isOpen = rest.kind !== 'save' && 'asks' in rest && (rest.asks.length > 0 || rest.waits.length > 0);
    if (ending || (rest.kind !== 'save' && (isOpen || commits.header.busy))) return this.#draftAtWork(rest);
    return { patch: {}, add: [], turn: { questions: [] } };
  }

  /** Steps run, and open questions are asked. */
  #draftAtWork(rest: RunState | undefined): TurnDraft {
    const runner = this.#runner;
    const draft = runner.ending ? undefined : runner.unlessFailed(draftWorking(runner, rest));
    return draft ?? draftEnding(runner, runner.ending!);
  }

  /** Reads the entries of other processes, and starts a new run of the body over them. */
  async #catchUp(): Promise<void> {
    const runner = this.#runner;
    const { context, flow } = runner.input;
    const found = await context.store.load(this.id);
    runner.commits.catchUp(found?.header);
    if (!found || isEnded(found.header) || runner.ending) return;
    const { entries } = openStored(context, found, flow);
    const ending = earlyEndOf(found.header);
    if (ending) runner.begin(ending);
    else runner.replay(entries);
  }

  /** Undefined if new entries must be read first, or if another process has ended the session, which is then done here. */
  #overtaken(): Promise<Turn> | undefined {
    const { commits } = this.#runner;
    if (commits.isBehind) return undefined;
    if (!commits.ending) return commits.current();
    this.#runner.begin(commits.ending);
    return undefined;
  }

  async #unwind(): Promise<Turn | undefined> {
    const runner = this.#runner;
    const { commits, endTurn } = runner;
    const ending = runner.ending!;
    const { patch, add } = draftEnding(runner, ending);
    if (!(await runner.write(patch, add))) return commits.isBehind ? undefined : commits.current();
    return unwind(runner, ending, {
      effects: findUndoable(runner.run, this.steps.began),
      signal: this.#stop.signal,
      onTold: (header) => this.#tell({ header: toClientHeader(header), ...endTurn }),
      end: async (notUndone) =>
        (await runner.commit(draftEnded(runner, ending, { turn: endTurn, notUndone }))) ?? commits.current(),
    });
  }

  /** `isPut`: open questions were asked with the same commit. */
  #start(rest: RunState, isPut = true): void {
    if (rest.kind !== 'steps') return;
    const { run, input, ending } = this.#runner;
    const progress = takeNewProgress(run);
    if (progress) input.host.emit({ kind: 'progress', header: input.header, progress });
    if (isPut) run.put(rest);
    this.steps.start(run, rest.steps, ending !== undefined);
  }

  /** Fails the session if the outcome of an effect is unknown and it must not run again. */
  #isUnknown(rest: RunState): boolean {
    const { run, ending } = this.#runner;
    const unknown = rest.kind === 'steps' && this.steps.unknownOf(run, rest.steps);
    if (!unknown || ending) return false;
    this.#runner.fail(new GatewayError('FLOW_EFFECT_UNKNOWN', { step: unknown }));
    return true;
  }
}

/** The journal is full, or what the author made cannot be written: running the steps again would not help. */
function isFinal(error: unknown): boolean {
  return isLimitError(error) || isMisuse(error) || !(error instanceof GatewayError);
}

/** The next value, for all who wait for it at that moment. */
class NextValue<T> {
  #resolve: ((value: T) => void) | undefined;
  #promise: Promise<T> | undefined;

  /** Created for the first waiter, since most turns have no waiter. */
  get promise(): Promise<T> {
    return (this.#promise ??= new Promise((resolve) => (this.#resolve = resolve)));
  }

  tell(value: T): void {
    const resolve = this.#resolve;
    this.#promise = undefined;
    this.#resolve = undefined;
    resolve?.(value);
  }
}

interface GraceResult {
  /** Where the run stopped; undefined if steps still run. */
  quick: RunState | undefined;
  /** What is open besides the steps. */
  asked: AskState | undefined;
  next: Promise<RunState>;
}

/** Other questions are not asked before the time is over. */
async function runInGrace(
  run: BodyRun,
  { clock, graceMs }: Pick<SessionContext, 'clock' | 'graceMs'>,
): Promise<GraceResult> {
  let [asked, isLate, next] = [undefined as AskState | undefined, false, run.next()];
  const unasked = async (): Promise<RunState> => {
    for (let rest = await next; ; rest = await next) {
      if (isLate || !isBusy(rest)) return rest;
      asked = rest;
      next = run.next();
    }
  };
  const quick = await unlessLate(unasked(), clock, graceMs);
  isLate = true;
  return { quick, asked, next };
}
