// Runs one session from the end of its journal to its next question, or to its end.
// 1. A client learns only what is committed. An answer and the next question are one commit; if an effect lies between them, the answer and
//    the intent are one commit, and the result and the question are the next.
// 2. Changes of another writer are never overwritten: the turn is abandoned and runs again from the store.
// 3. Once an effect has begun, this process holds a lease. Other processes append what arrives meanwhile (answers, events, ended sleeps), and
//    a new run of the body reads it here before anything else is written. So the body always sees journal order.
// 4. An early end is committed first. Then running effects finish, the body cleans up, and effects are undone; only then the session has
//    ended. If this process dies meanwhile, the next one does the rest.
import type { BodyRun } from '../../engine/body-run.ts';
import { hasWork, isBusy } from '../../engine/run-state.ts';
import type { RunState } from '../../engine/run-state.ts';
import { toClientHeader, earlyEndOf, endReason, isEnded, hasSameQuestions } from '../../header.ts';
import { toShortId } from '../session-id.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import { isMismatch } from '../../engine/mismatch.ts';
import { Cancellation } from '../../../shared/cancellation.ts';
import { unlessAborted, unlessLate } from '../../../shared/timing.ts';
import type { SessionChange } from '../../store/store.ts';
import { Commits, isLimitError } from './commits.ts';
import type { TurnInput } from './turn-input.ts';
import { limitFirstQuestion } from './first-question.ts';
import { keepWarm, resumeOrReplay } from './warm-body.ts';
import { openSealedArgs } from '../values/sealed-args.ts';
import { migrateJournal } from '../verbs/migrate-journal.ts';
import { BackgroundWork, ENDING_GRACE_MS, CHANGED } from '../external/background-work.ts';
import { checkEvents } from '../external/deliver-event.ts';
import { leaveToHolder } from '../external/leave-to-holder.ts';
import { runInGrace } from '../external/grace-period.ts';
import { recordEnd } from '../ending/trail.ts';
import { toParkedPatch, unpark } from '../ending/parking.ts';
import { takeNewProgress, draftWorking, draftTurn, draftFailure, toVerdicts } from './turn-changes.ts';
import type { TurnDraft } from './turn-changes.ts';
import { draftEnded, draftEnding } from '../ending/end-drafts.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { Turn } from './turn.ts';
import { findUndoable } from '../ending/undo-effects.ts';
import { unwind } from '../ending/unwind.ts';

interface Terms extends Pick<SessionChange, 'dueAt' | 'tombstoneMs'> {
  /** Take the lease. */
  hold?: boolean;
}

export class TurnRunner {
  readonly input: TurnInput;
  run: BodyRun;
  readonly commits: Commits;
  #atWork: BackgroundWork | undefined;
  /** The session runs in the background. */
  isLive = false;
  /** How many of the entries to write the run already knows. */
  readonly #known: number;
  /** The signal for steps. */
  readonly #signal = new Cancellation();
  /** Aborts when this process leaves the session. */
  readonly #stop = new Cancellation();
  /** The parked state and operator request of the session, until it has continued. */
  #waiting: Pick<Header, 'parked' | 'handed'>;
  /** To write as soon as the session has continued. */
  #refresh: Partial<Header> | undefined;
  #unwritten: JournalEntry[] = [];
  #ending: EarlyEnd | undefined;
  /** The turn to report with the end. */
  #endTurn: Omit<Turn, 'header'> = { questions: [] };

  constructor(given: TurnInput) {
    const { parked, handed, version } = given.header;
    const unparked = parked || handed ? unpark(given) : undefined;
    const input = unparked ? { ...given, header: { ...given.header, ...unparked } } : given;
    this.input = input;
    if (unparked || version !== given.flow.version) this.#refresh = { version: given.flow.version, ...unparked };
    this.#waiting = { parked, handed };
    this.commits = new Commits(input.context, input.header, input.stored);
    this.run = this.#toRun(input);
    this.#known = input.prefix?.length ?? 0;
    const ending = input.ending ?? earlyEndOf(input.header);
    if (ending) this.#begin(ending);
  }

  get #work(): BackgroundWork {
    return (this.#atWork ??= new BackgroundWork(this.input, this.commits, { work: this.#signal, cleanup: this.#stop }));
  }

  /** Undefined if another writer was faster; then nothing was written. */
  async turn(): Promise<Turn | undefined> {
    const { stored, incoming, prefix, byItself = stored && !incoming && !prefix } = this.input;
    try {
      return await this.#settleOrLeave(await this.run.next());
    } catch (error) {
      if (isMismatch(error)) await this.#setAside(error);
      // Without a request there is no client to reject, so the session fails.
      if (!byItself || !isLimitError(error)) throw error;
      this.#fail(error);
      return this.#settle(await this.run.next());
    } finally {
      if (!this.isLive && this.commits.holds) await this.commits.letGo();
    }
  }

  #settleOrLeave(rest: RunState): Promise<Turn | undefined> {
    const { header, mayBeHeld = header.busy } = this.input;
    if (this.input.fromOutside) checkEvents(this.input);
    return mayBeHeld ? this.#leaveOrSettle(rest) : this.#settle(rest);
  }

  /** Leaves the turn to the process that holds the session. If that one has died, this one continues. */
  async #leaveOrSettle(rest: RunState): Promise<Turn | undefined> {
    if (!this.input.host.isLive(this.input.header.id) && (await this.commits.take())) return this.#settle(rest);
    if (rest.kind === 'failed' && isMismatch(rest.error)) throw rest.error;
    return this.#ending ? undefined : leaveToHolder(this, rest);
  }

  #toRun(input: TurnInput): BodyRun {
    const { clock, limits } = input.context;
    // The body waits for something that is neither a question nor a step, which must not hang the session for ever.
    const onStall = () => void clock.after(limits.stepMs, () => this.run.giveUp(limits.stepMs));
    return resumeOrReplay(input, { onStall, onFailing: () => this.#signal.abort() });
  }

  /** Avoids promises other than the store's where possible, because this runs in every turn. */
  #settle(rest: RunState): Promise<Turn | undefined> {
    if (hasWork(rest)) return this.#startAt(rest);
    const draft = this.#toDraft(rest);
    if (draft instanceof Promise) return draft.then((made) => (made ? this.#commit(made) : this.#settleEnd(rest)));
    return draft ? this.#commit(draft) : this.#settleEnd(rest);
  }

  async #settleEnd(rest: RunState): Promise<Turn | undefined> {
    if (rest.kind === 'asks') return this.#settle(await this.run.next()); // the body now knows that the session ends
    return findUndoable(this.run, this.#work.steps.began).length === 0
      ? this.#commit(draftEnded(this, this.#ending!, { turn: this.#endTurn }))
      : this.#toBackground(undefined, Promise.resolve(rest));
  }

  async #startAt(rest: RunState): Promise<Turn | undefined> {
    const { steps, waits } = rest.kind === 'steps' ? rest : { steps: [], waits: [] };
    const isReading = steps.every(({ spec }) => spec.options.effect === undefined);
    const { intents } = this.run.input.folded;
    // Waits must be committed before a step may cause their event.
    if (!isReading || waits.length > 0 || intents.size > 0 || this.#ending) return this.#toBackground(rest);
    this.#start(rest, false);
    const { quick, asked, next } = await runInGrace(this.run, this.input.context);
    return quick ? this.#settle(quick) : this.#toBackground(asked, next);
  }

  async #commit(draft: TurnDraft): Promise<Turn | undefined> {
    const { tombstoneMs } = this.input.context.limits;
    const { state } = draft.patch;
    const recording = state && isEnded({ state }) ? recordEnd(this, draft, this.#gather()) : undefined;
    if (recording) await recording;
    const header = await this.#write(draft.patch, draft.add, { dueAt: draft.dueAt, tombstoneMs });
    if (header?.state === 'waiting_user') keepWarm(this, header, this.#known);
    return header && { header, ...draft.turn, ...this.input.host.laterTurn(header) };
  }

  /** Entries that could not be written go with the next write. */
  async #write(patch: Partial<Header>, add: JournalEntry[], terms: Terms = {}): Promise<Header | undefined> {
    const entries = [...this.#gather(), ...add];
    const whole = this.#refresh ? { ...this.#refresh, ...patch } : patch;
    const writing = terms.hold ? this.commits.hold(whole, entries) : this.commits.write(whole, entries, terms);
    const { header } = await writing;
    if (!header) return undefined;
    this.#atWork?.steps.written(this.#unwritten);
    this.#unwritten = [];
    this.#refresh = undefined;
    this.#waiting = {};
    return header;
  }

  /** Parks the session for a version that can continue it. Results of effects are kept; the answer that led here is not. */
  async #setAside(error: GatewayError): Promise<void> {
    const { context, flow, stored } = this.input;
    const session = toShortId(this.input.header.id);
    context.log.error({ tool: flow.name, session, error }, 'flow.parked');
    if (!stored && !this.commits.holds) return;
    if (!this.#waiting.parked) context.counts.parked(this.input.header);
    const header = { ...this.commits.header, parked: undefined, ...this.#waiting };
    const { patch, dueAt } = toParkedPatch(this.input, header, error);
    this.#refresh = undefined;
    if (this.commits.holds) await this.#write(patch, [], { dueAt });
    else await this.commits.write(patch, [], { dueAt });
  }

  /** Undefined if the session ends early. */
  #toDraft(rest: RunState): TurnDraft | undefined | Promise<TurnDraft | undefined> {
    if (this.#ending) return undefined;
    const draft = draftTurn(this, rest);
    return draft instanceof Promise ? draft.then((made) => this.#unlessFailed(made)) : this.#unlessFailed(draft);
  }

  #unlessFailed(draft: TurnDraft): TurnDraft | undefined {
    if (draft.patch.state !== 'error') return draft;
    this.#begin({ kind: 'fail', reason: draft.patch.reason, failure: draft.turn.failure });
    return undefined;
  }

  #fail(error: unknown): void {
    const { patch, turn } = draftFailure(this, error);
    this.#begin({ kind: 'fail', reason: patch.reason, failure: turn.failure });
  }

  #begin(ending: EarlyEnd): void {
    if (this.#ending) return;
    this.#ending = ending;
    const { failure } = ending;
    this.#endTurn = { questions: [], ...(failure && { failure }), ...toVerdicts(this.input.incoming ?? []) };
    this.#signal.abort();
    this.run.end(endReason(ending));
  }

  /** Acknowledges the answer while the steps run on. */
  async #toBackground(rest: RunState | undefined, running?: Promise<RunState>): Promise<Turn | undefined> {
    if (rest && this.#isUnknown(rest)) return this.#settle(await this.run.next());
    const draft = this.#toAtWork(rest);
    const add = [...draft.add, ...this.#work.steps.intents(this.run, rest)];
    const header = await this.#write(draft.patch, add, { hold: true });
    if (!header) return undefined;
    if (rest) this.#start(rest);
    return this.#live(header, draft, running ?? this.run.next());
  }

  /** Steps run, and open questions are asked. */
  #toAtWork(rest: RunState | undefined): TurnDraft {
    if (this.#ending) return draftEnding(this, this.#ending);
    const draft = draftWorking(this, rest);
    if (draft.patch.state !== 'error') return draft;
    this.#begin({ kind: 'fail', reason: draft.patch.reason, failure: draft.turn.failure });
    return draftEnding(this, this.#ending!);
  }

  async #live(header: Header, draft: TurnDraft, running: Promise<RunState>): Promise<Turn> {
    const { ending, incoming } = this.input;
    const isAsked = ending?.kind === 'cancel' || incoming !== undefined;
    this.isLive = true;
    const isAsking = draft.turn.questions.length > 0;
    this.#work.lookout.set(header);
    const { told } = this.#work;
    const { next } = told;
    if (isAsking) told.tell({ header, ...draft.turn });
    const done = this.#goOn(running, isAsking ? () => {} : limitFirstQuestion(this, (ending) => this.#endNow(ending)));
    this.input.host.onLive({
      id: header.id,
      get next() {
        return told.next;
      },
      done,
      end: (ending) => this.#endNow(ending),
      look: () => this.#work.left.tell(CHANGED),
      abort: () => this.#leave(),
    });
    if (isAsking) return { header, ...draft.turn };
    if (!this.#ending || !isAsked) return { header: toClientHeader(header), ...draft.turn, next };
    const quick = await unlessLate(next, this.input.context.clock, ENDING_GRACE_MS);
    // A failure is reported when it is over; a cancel need not wait.
    return quick ?? { header: this.#ending.kind === 'cancel' ? toClientHeader(header) : header, ...draft.turn, next };
  }

  /** Ends the session while its steps run here. The end is committed at once; `#goOn` does the rest. */
  async #endNow(ending: EarlyEnd): Promise<void> {
    if (this.#ending) return;
    this.#begin(ending);
    try {
      const { patch, add } = draftEnding(this, this.#ending!);
      await this.commits.write(patch, add);
    } catch (error) {
      this.input.context.log.error({ error, tool: this.input.flow.name }, 'flow.broken');
      this.#leave();
    }
  }

  #leave(): void {
    this.#signal.abort();
    this.#stop.abort();
  }

  async #goOn(running: Promise<RunState>, onTime: () => void): Promise<Turn> {
    const turn = await this.#goOnToEnd(running, onTime);
    this.#work.told.tell(turn);
    return turn;
  }

  async #goOnToEnd(running: Promise<RunState>, onTime: () => void): Promise<Turn> {
    const { log } = this.input.context;
    try {
      for (let coming = running; ; coming = this.run.next()) {
        try {
          const rest = await unlessAborted(Promise.race([coming, this.#work.left.promise]), this.#stop);
          if (rest === CHANGED) await this.#catchUp();
          const turn = rest ? rest !== CHANGED && (await this.#goOnFrom(rest, onTime)) : await this.commits.current();
          if (this.commits.isBehind) await this.#catchUp();
          if (turn) return turn;
        } catch (error) {
          if (!isLimitError(error) || this.#ending) throw error;
          // The journal is full. Running the step again would not help.
          this.#fail(error);
        }
      }
    } catch (error) {
      if (isMismatch(error)) await this.#setAside(error);
      else log.error({ error, tool: this.input.flow.name }, 'flow.broken');
      return this.commits.current();
    } finally {
      onTime();
      this.#work.lookout.stop();
      await this.commits.letGo();
    }
  }

  /** Undefined while more is to come. */
  async #goOnFrom(rest: RunState, onTime: () => void): Promise<Turn | undefined> {
    if (hasWork(rest) || isBusy(rest)) {
      if (this.#isUnknown(rest)) return undefined;
      const before = this.commits.header;
      const { patch, add, turn } = this.#toStillAtWork(rest);
      const header = await this.#write(patch, [...add, ...this.#work.steps.intents(this.run, rest)]);
      if (!header) return this.#overtaken();
      if (isEnded(header)) return this.commits.current();
      this.#start(rest);
      if (turn.questions.length > 0) onTime();
      if (turn.questions.length > 0 && !hasSameQuestions(before, header)) this.#work.told.tell({ header, ...turn });
      this.#work.lookout.set(header);
      return undefined;
    }
    const draft = await this.#toDraft(rest);
    if (draft) return (await this.#commit(draft)) ?? this.#overtaken();
    if (rest.kind === 'asks') return undefined;
    return this.#unwind();
  }

  /** Empty if nothing is or was open, because the owner may have asked a question of its own. */
  #toStillAtWork(rest: RunState): TurnDraft {
    const { busy } = this.commits.header;
    const isOpen = rest.kind !== 'save' && 'asks' in rest && (rest.asks.length > 0 || rest.waits.length > 0);
    if (this.#ending || (rest.kind !== 'save' && (isOpen || busy))) return this.#toAtWork(rest);
    return { patch: {}, add: [], turn: { questions: [] } };
  }

  /** Reads the entries of other processes, and starts a new run of the body over them. */
  async #catchUp(): Promise<void> {
    const { context, flow, header } = this.input;
    const found = await context.store.load(header.id);
    this.commits.catchUp(found?.header);
    if (!found || isEnded(found.header) || this.#ending) return;
    const stored = migrateJournal(openSealedArgs(context, found), flow);
    const ending = earlyEndOf(found.header);
    if (ending) return this.#begin(ending);
    this.run.leave();
    this.#unwritten = [];
    this.run = this.#toRun({ ...this.input, entries: stored.entries, frame: undefined, incoming: undefined });
  }

  /** Undefined if new entries must be read first, or if another process has ended the session, which is then done here. */
  #overtaken(): Promise<Turn> | undefined {
    if (this.commits.isBehind) return undefined;
    if (!this.commits.ending) return this.commits.current();
    this.#begin(this.commits.ending);
    return undefined;
  }

  async #unwind(): Promise<Turn | undefined> {
    const { patch, add } = draftEnding(this, this.#ending!);
    if (!(await this.#write(patch, add))) return this.commits.isBehind ? undefined : this.commits.current();
    return unwind(this, this.#ending!, {
      effects: findUndoable(this.run, this.#work.steps.began),
      signal: this.#stop.signal,
      onTold: (header) => this.#work.told.tell({ header: toClientHeader(header), ...this.#endTurn }),
      end: async (notUndone) =>
        (await this.#commit(draftEnded(this, this.#ending!, { turn: this.#endTurn, notUndone }))) ??
        this.commits.current(),
    });
  }

  /** `isPut`: open questions were asked with the same commit. */
  #start(rest: RunState, isPut = true): void {
    if (rest.kind !== 'steps') return;
    const said = takeNewProgress(this.run);
    if (said) this.input.host.emit({ kind: 'progress', header: this.input.header, progress: said });
    if (isPut) this.run.put(rest);
    this.#work.steps.start(this.run, rest.steps, this.#ending !== undefined);
  }

  /** Fails the session if the outcome of an effect is unknown and it must not run again. */
  #isUnknown(rest: RunState): boolean {
    const unknown = rest.kind === 'steps' && this.#work.steps.unknownOf(this.run, rest.steps);
    if (!unknown || this.#ending) return false;
    this.#fail(new GatewayError('FLOW_EFFECT_UNKNOWN', { step: unknown }));
    return true;
  }

  /** Includes what the run has added since. */
  #gather(): JournalEntry[] {
    const { prefix = [] } = this.input;
    this.input.prefix = undefined;
    this.#unwritten.push(...prefix, ...this.run.take());
    return this.#unwritten;
  }
}
