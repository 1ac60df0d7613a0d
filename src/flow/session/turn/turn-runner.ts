// One session, driven from where its journal ends to where it next has to wait: for an answer, or for ever.
// 1. What the client is told was written first. An answer and the question that follows it are one commit; where an effect lies in
//    between, the answer and the intent are one, and its result and the question the next.
// 2. Nothing is written over what somebody else wrote meanwhile: then the whole turn is given up, and tried anew from the store.
// 3. Once an effect has begun, this process holds a lease, and goes on whoever else looks at the session. What comes for the session meanwhile
//    (answers, events, the end of a sleep) is written down by others, and taken up here by a new run of the body, before anything else is
//    written: the order of the journal decides what the body is told first.
// 4. A session that ends before its time says so in the store first. Then effects in flight come to their end, the body cleans up, and
//    what was done is taken back; only after that the session is over. A process that dies meanwhile leaves the rest to the next one.
import type { BodyRun } from '../../engine/body-run.ts';
import { hasWork, isBusy } from '../../engine/run-state.ts';
import type { RunState } from '../../engine/run-state.ts';
import { toClientHeader, earlyEndOf, endReason } from '../../journal.ts';
import { toShortId } from '../../short-id.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import { isMismatch } from '../../engine/mismatch.ts';
import { isEnded } from '../../store/store.ts';
import type { SessionChange } from '../../store/store.ts';
import { Commits, isLimitError } from './commits.ts';
import { LazyAbort, unlessAborted, unlessLate } from '../unless-aborted.ts';
import type { TurnInput } from './turn-input.ts';
import { limitFirstQuestion } from './first-question.ts';
import { keepWarm } from './warm-body.ts';
import { openSealedArgs } from '../values/sealed-args.ts';
import { hasSameQuestions } from '../verbs/session-watch.ts';
import { migrateJournal } from '../verbs/migrate-journal.ts';
import { BackgroundWork, ENDING_GRACE_MS, CHANGED } from '../external/background-work.ts';
import { checkEvents } from '../external/deliver-event.ts';
import { leaveToHolder } from '../external/leave-to-holder.ts';
import { runInGrace } from '../external/grace-period.ts';
import { toLaterTurn } from '../external/waits.ts';
import { recordEnd } from '../ending/trail.ts';
import { toParkedPatch, unpark } from '../ending/parking.ts';
import { takeNewProgress, draftWorking, draftTurn, draftFailure, toVerdicts } from './turn-changes.ts';
import type { TurnDraft } from './turn-changes.ts';
import { resumeOrReplay } from './resume-or-replay.ts';
import { draftEnded, draftEnding } from '../ending/end-drafts.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { Turn } from './turn.ts';
import { findUndoable } from '../ending/undo-effects.ts';
import { unwind } from '../ending/unwind.ts';

interface Terms extends Pick<SessionChange, 'dueAt' | 'tombstoneMs'> {
  /** Keeps others from going on with it. */
  hold?: boolean;
}

export class TurnRunner {
  readonly input: TurnInput;
  run: BodyRun;
  readonly commits: Commits;
  #atWork: BackgroundWork | undefined;
  /** It goes on in the background. */
  isLive = false;
  /** How many of the entries that are written the run has from the start. */
  readonly #known: number;
  /** What steps are given. */
  readonly #signal = new LazyAbort();
  /** Leaves the session alone. */
  readonly #stop = new LazyAbort();
  /** Since when it is parked, and what was handed over for it, until it has gone on. */
  #waiting: Pick<Header, 'parked' | 'handed'>;
  /** To be written as soon as it has gone on. */
  #refresh: Partial<Header> | undefined;
  #unwritten: JournalEntry[] = [];
  #ending: EarlyEnd | undefined;
  /** What is told beside the end. */
  #endTurn: Omit<Turn, 'header'> = { questions: [] };

  constructor(given: TurnInput) {
    const { header, patch } = unpark(given);
    const input = header === given.header ? given : { ...given, header };
    this.input = input;
    this.#refresh = patch;
    this.#waiting = { parked: given.header.parked, handed: given.header.handed };
    this.commits = new Commits(input.setup, input.header, input.stored);
    this.run = this.#toRun(input);
    this.#known = input.prefix?.length ?? 0;
    const ending = input.ending ?? earlyEndOf(input.header);
    if (ending) this.#begin(ending);
  }

  get #work(): BackgroundWork {
    return (this.#atWork ??= new BackgroundWork(this.input, this.commits, { work: this.#signal, cleanup: this.#stop }));
  }

  /** Undefined if somebody else was faster; then nothing was written. */
  async turn(): Promise<Turn | undefined> {
    const { stored, incoming, prefix, byItself = stored && !incoming && !prefix } = this.input;
    try {
      return await this.#settleOrLeave(await this.run.next());
    } catch (error) {
      if (isMismatch(error)) await this.#setAside(error);
      // Nobody is there to be refused where it goes on by itself.
      if (!byItself || !isLimitError(error)) throw error;
      this.#fail(error);
      return this.#settle(await this.run.next());
    } finally {
      if (!this.isLive && this.commits.holds) await this.commits.letGo();
    }
  }

  #settleOrLeave(rest: RunState): Promise<Turn | undefined> {
    const { header, mayBeHeld = header.busy } = this.input;
    checkEvents(this.input);
    return mayBeHeld ? this.#leaveOrSettle(rest) : this.#settle(rest);
  }

  /** Where some process is at work in it, that one goes on. If that process has died, this one does. */
  async #leaveOrSettle(rest: RunState): Promise<Turn | undefined> {
    if (!this.input.isLive && (await this.commits.take())) return this.#settle(rest);
    if (rest.kind === 'failed' && isMismatch(rest.error)) throw rest.error;
    return this.#ending ? undefined : leaveToHolder(this, rest);
  }

  #toRun(input: TurnInput): BodyRun {
    const { clock, limits } = input.setup;
    // The body waits for something of its own. It may come; if it does not, the session must not hang for ever.
    const onStall = () => void clock.after(limits.stepMs, () => this.run.giveUp(limits.stepMs));
    return resumeOrReplay(input, { onStall, onFailing: () => this.#signal.abort() });
  }

  /** Nothing is waited for but the store, where that is possible: this is done in every turn. */
  #settle(rest: RunState): Promise<Turn | undefined> {
    if (hasWork(rest)) return this.#startAt(rest);
    const draft = this.#toDraft(rest);
    if (draft instanceof Promise) return draft.then((made) => (made ? this.#commit(made) : this.#settleEnd(rest)));
    return draft ? this.#commit(draft) : this.#settleEnd(rest);
  }

  async #settleEnd(rest: RunState): Promise<Turn | undefined> {
    if (rest.kind === 'asks') return this.#settle(await this.run.next()); // it has been told that it is over
    return findUndoable(this.run, this.#work.steps.began).length === 0
      ? this.#commit(draftEnded(this, this.#ending!, { turn: this.#endTurn }))
      : this.#toBackground(undefined, Promise.resolve(rest));
  }

  async #startAt(rest: RunState): Promise<Turn | undefined> {
    const { steps, waits } = rest.kind === 'steps' ? rest : { steps: [], waits: [] };
    const isReading = steps.every(({ spec }) => spec.options.effect === undefined);
    const { intents } = this.run.input.folded;
    // What is waited for must be known before a step may bring it about.
    if (!isReading || waits.length > 0 || intents.size > 0 || this.#ending) return this.#toBackground(rest);
    this.#start(rest, false);
    const { quick, asked, next } = await runInGrace(this.run, this.input.setup);
    return quick ? this.#settle(quick) : this.#toBackground(asked, next);
  }

  async #commit(draft: TurnDraft): Promise<Turn | undefined> {
    const { tombstoneMs } = this.input.setup.limits;
    const keeping = recordEnd(this, draft, this.#gather());
    if (keeping) await keeping;
    const header = await this.#write(draft.patch, draft.add, { dueAt: draft.dueAt, tombstoneMs });
    if (header?.state === 'waiting_user') keepWarm(this, header, this.#known);
    return header && { header, ...draft.turn, ...toLaterTurn(this.input, header) };
  }

  /** What could not be written is written with the next. */
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

  /** It waits for a version that can go on with it. What effects have given is kept; an answer that led here is not. */
  async #setAside(error: GatewayError): Promise<void> {
    const { setup, flow, stored } = this.input;
    const session = toShortId(this.input.header.id);
    setup.log.error({ tool: flow.name, session, error }, 'flow.parked');
    if (!stored && !this.commits.holds) return;
    if (!this.#waiting.parked) setup.counts.parked(this.input.header);
    const header = { ...this.commits.header, parked: undefined, ...this.#waiting };
    const { patch, dueAt } = toParkedPatch(this.input, header, error);
    this.#refresh = undefined;
    if (this.commits.holds) await this.#write(patch, [], { dueAt });
    else await this.commits.write(patch, [], { dueAt });
  }

  /** Undefined where the session ends before its time. */
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

  /** The answer is acknowledged, and the steps go on by themselves. */
  async #toBackground(rest: RunState | undefined, running?: Promise<RunState>): Promise<Turn | undefined> {
    if (rest && this.#isUnknown(rest)) return this.#settle(await this.run.next());
    const draft = this.#toAtWork(rest);
    const add = [...draft.add, ...this.#work.steps.intents(this.run, rest)];
    const header = await this.#write(draft.patch, add, { hold: true });
    if (!header) return undefined;
    if (rest) this.#start(rest);
    return this.#live(header, draft, running ?? this.run.next());
  }

  /** Steps run, and whatever is open beside them is asked. */
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
    this.input.onLive?.({
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
    const quick = await unlessLate(next, this.input.setup.clock, ENDING_GRACE_MS);
    // A failure is told when it is over; who cancels need not wait.
    return quick ?? { header: this.#ending.kind === 'cancel' ? toClientHeader(header) : header, ...draft.turn, next };
  }

  /** Somebody wants it to end while it is at work here. That is written down at once; the rest follows in `#goOn`. */
  async #endNow(ending: EarlyEnd): Promise<void> {
    if (this.#ending) return;
    this.#begin(ending);
    try {
      const { patch, add } = draftEnding(this, this.#ending!);
      await this.commits.write(patch, add);
    } catch (error) {
      this.input.setup.log.error({ error, tool: this.input.flow.name }, 'flow.broken');
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
    const { log } = this.input.setup;
    try {
      for (let coming = running; ; coming = this.run.next()) {
        try {
          const rest = await unlessAborted(Promise.race([coming, this.#work.left.promise]), this.#stop.signal);
          if (rest === CHANGED) await this.#catchUp();
          const turn = rest ? rest !== CHANGED && (await this.#goOnFrom(rest, onTime)) : await this.commits.current();
          if (this.commits.isBehind) await this.#catchUp();
          if (turn) return turn;
        } catch (error) {
          if (!isLimitError(error) || this.#ending) throw error;
          // What was done has no room in the journal: done again it would have no more.
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

  /** Undefined while there is more to come. */
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

  /** Nothing is written where nothing is or was open: the owner may have put a question of his own. */
  #toStillAtWork(rest: RunState): TurnDraft {
    const { busy } = this.commits.header;
    const isOpen = rest.kind !== 'save' && 'asks' in rest && (rest.asks.length > 0 || rest.waits.length > 0);
    if (this.#ending || (rest.kind !== 'save' && (isOpen || busy))) return this.#toAtWork(rest);
    return { patch: {}, add: [], turn: { questions: [] } };
  }

  /** Others have written something down for this process: a new run of the body is told of it in its turn. */
  async #catchUp(): Promise<void> {
    const { setup, flow, header } = this.input;
    const found = await setup.store.load(header.id);
    this.commits.catchUp(found?.header);
    if (!found || isEnded(found.header) || this.#ending) return;
    const stored = migrateJournal(openSealedArgs(setup, found), flow);
    const ending = earlyEndOf(found.header);
    if (ending) return this.#begin(ending);
    this.run.leave();
    this.#unwritten = [];
    this.run = this.#toRun({ ...this.input, entries: stored.entries, frame: undefined, incoming: undefined });
  }

  /** Undefined if there is something to take up first, or somebody has ended it meanwhile: then that is brought about here. */
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

  /** `isPut`: what is open beside them was put with the same commit. */
  #start(rest: RunState, isPut = true): void {
    if (rest.kind !== 'steps') return;
    const said = takeNewProgress(this.run);
    if (said) this.input.onProgress?.(this.input.header, said);
    if (isPut) this.run.put(rest);
    this.#work.steps.start(this.run, rest.steps, this.#ending !== undefined);
  }

  /** An effect among them may have happened unseen, and must not happen again: the session fails. */
  #isUnknown(rest: RunState): boolean {
    const unknown = rest.kind === 'steps' && this.#work.steps.unknownOf(this.run, rest.steps);
    if (!unknown || this.#ending) return false;
    this.#fail(new GatewayError('FLOW_EFFECT_UNKNOWN', { step: unknown }));
    return true;
  }

  /** With what the run has added since. */
  #gather(): JournalEntry[] {
    const { prefix = [] } = this.input;
    this.input.prefix = undefined;
    this.#unwritten.push(...prefix, ...this.run.take());
    return this.#unwritten;
  }
}
