// Runs one session from the end of its journal to its next question, or to its end. Most turns end here: the body gets the answer, asks the
// next question, and both are committed at once. Where steps run, a BackgroundSession goes on.
// 1. A client learns only what is committed. An answer and the next question are one commit; if an effect lies between them, the answer and
//    the intent are one commit, and the result and the question are the next.
// 2. Changes of another writer are never overwritten: the turn is abandoned and runs again from the store.
import { Cancellation } from '../../../kernel/base/cancellation.ts';
import { BodyRun } from '../../engine/body-run.ts';
import { isMismatch } from '../../engine/mismatch.ts';
import { findPlace, isMisuse } from '../../engine/misuse.ts';
import { hasWork } from '../../engine/pending-ask.ts';
import type { RunState } from '../../engine/pending-ask.ts';
import type { Checks, RunHost, RunTurn } from '../../engine/run-input.ts';
import type { UnjournaledAccess } from '../../engine/unjournaled.ts';
import { extendFold, fold } from '../../fold.ts';
import { earlyEndOf, endReason, isEnded } from '../../header.ts';
import type { EarlyEnd, JournalEntry, Header } from '../../journal.ts';
import { toTombstoneMs } from '../context/flow-limits.ts';
import { recordEnd } from './ended-record.ts';
import { findUndoable } from './undo-effects.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toParkedPatch, unpark } from './parking.ts';
import { toShortId } from '../../session-id.ts';
import { BackgroundSession } from './background-session.ts';
import { Commits, isLimitError } from './commits.ts';
import { leaveToHolder } from './session-holder.ts';
import { draftEnded, draftFailure, draftTurn, toVerdicts } from './turn-changes.ts';
import type { RunningTurn, WriteTerms } from './running-turn.ts';
import type { TurnHost, TurnInput, TurnRequest } from './turn-request.ts';
import type { Turn, TurnDraft } from './turn.ts';
import { WarmBody } from '../context/warm-bodies.ts';

export class TurnRunner implements RunHost, RunningTurn {
  readonly input: TurnInput;
  run: BodyRun;
  readonly commits: Commits;
  /** The session runs in the background. */
  isLive = false;
  /** The signal for steps. */
  readonly signal = new Cancellation();
  ending: EarlyEnd | undefined;
  /** The turn to report with the end. */
  endTurn: Omit<Turn, 'header'> = { questions: [] };
  #background: BackgroundSession | undefined;
  /** How many of the entries to write the run already knows. */
  readonly #known: number;
  /** The parked state and operator request of the session, until it has continued. */
  #waiting: Pick<Header, 'parked' | 'handed'>;
  /** To write as soon as the session has continued. */
  #refresh: Partial<Header> | undefined;
  #unwritten: JournalEntry[] = [];

  /** `next`: questions that can be asked ahead. */
  constructor(host: TurnHost, request: TurnRequest, next: TurnInput['next']) {
    const input = toTurnInput(host, request, next);
    const { context, flow } = input;
    const { parked, handed, version } = input.header;
    const unparked = parked || handed ? unpark(input) : undefined;
    if (unparked) input.header = { ...input.header, ...unparked };
    this.input = input;
    if (unparked || version !== flow.version) this.#refresh = { version: flow.version, ...unparked };
    this.#waiting = { parked, handed };
    this.commits = new Commits(context, input.header, input.stored);
    this.run = resumeOrReplay(input, this);
    this.#known = input.prefix?.length ?? 0;
    const ending = input.ending ?? earlyEndOf(input.header);
    if (ending) this.begin(ending);
  }

  /** Undefined if another writer was faster; then nothing was written. */
  async turn(): Promise<Turn | undefined> {
    const { stored, incoming, prefix, byItself = stored && !incoming && !prefix } = this.input;
    try {
      return await this.#settleOrLeave(await this.run.next());
    } catch (error) {
      if (isMismatch(error)) await this.setAside(error);
      // Without a request there is no client to reject, so the session fails.
      const isFinal = (byItself && isLimitError(error)) || isMisuse(error);
      if (!isFinal || this.ending) throw error;
      this.fail(error);
      return this.settle(await this.run.next());
    } finally {
      if (!this.isLive && this.commits.hasLease) await this.commits.releaseLease();
    }
  }

  onUnjournaled(access: UnjournaledAccess): void {
    this.input.context.log.warn({ tool: this.input.flow.name, ...access }, 'flow.unjournaled');
  }

  /** The body waits for something that is neither a question nor a step, which must not hang the session for ever. */
  onStall(): void {
    const { clock, limits } = this.input.context;
    clock.after(limits.stepMs, () => this.run.giveUp(limits.stepMs));
  }

  onFailing(): void {
    this.signal.abort();
  }

  #settleOrLeave(rest: RunState): Promise<Turn | undefined> {
    const { header, mayBeHeld = header.busy } = this.input;
    if (this.input.fromOutside) checkEvents(this.input);
    return mayBeHeld ? this.#leaveOrSettle(rest) : this.settle(rest);
  }

  /** Leaves the turn to the process that holds the session. If that one has died, this one continues. */
  async #leaveOrSettle(rest: RunState): Promise<Turn | undefined> {
    if (!this.input.host.isLive(this.input.header.id) && (await this.commits.takeLease())) return this.settle(rest);
    if (rest.kind === 'failed' && isMismatch(rest.error)) throw rest.error;
    return this.ending ? undefined : leaveToHolder(this, rest);
  }

  /** Avoids promises other than the store's where possible, because this runs in every turn. */
  settle(rest: RunState): Promise<Turn | undefined> {
    if (hasWork(rest)) return this.#steps.startAt(rest);
    const draft = this.toDraft(rest);
    if (draft instanceof Promise) return draft.then((made) => (made ? this.commit(made) : this.#settleEnd(rest)));
    return draft ? this.commit(draft) : this.#settleEnd(rest);
  }

  async #settleEnd(rest: RunState): Promise<Turn | undefined> {
    if (rest.kind === 'asks') return this.settle(await this.run.next()); // the body now knows that the session ends
    return findUndoable(this.run, this.#steps.steps.began).length === 0
      ? this.commit(draftEnded(this, this.ending!, { turn: this.endTurn }))
      : this.#steps.toBackground(undefined, Promise.resolve(rest));
  }

  get #steps(): BackgroundSession {
    return (this.#background ??= new BackgroundSession(this));
  }

  /** Undefined if the session ends early. */
  toDraft(rest: RunState): TurnDraft | undefined | Promise<TurnDraft | undefined> {
    if (this.ending) return undefined;
    const draft = draftTurn(this, rest);
    return draft instanceof Promise ? draft.then((made) => this.unlessFailed(made)) : this.unlessFailed(draft);
  }

  /** A failed session ends early. */
  unlessFailed(draft: TurnDraft): TurnDraft | undefined {
    if (draft.patch.state !== 'error') return draft;
    this.begin({ kind: 'fail', reason: draft.patch.reason, failure: draft.turn.failure });
    return undefined;
  }

  fail(error: unknown): void {
    this.unlessFailed(draftFailure(this, error));
  }

  begin(ending: EarlyEnd): void {
    if (this.ending) return;
    this.ending = ending;
    const { failure } = ending;
    this.endTurn = { questions: [], ...(failure && { failure }), ...toVerdicts(this.input.incoming ?? []) };
    this.signal.abort();
    this.run.end(endReason(ending));
  }

  async commit(draft: TurnDraft): Promise<Turn | undefined> {
    const { host, context } = this.input;
    const { state } = draft.patch;
    const recording = state && isEnded({ state }) ? recordEnd(this, draft, this.#gather()) : undefined;
    if (recording) await recording;
    const tombstoneMs = toTombstoneMs(context.limits, this.input.header);
    const header = await this.write(draft.patch, draft.add, { dueAt: draft.dueAt, tombstoneMs });
    if (header?.state === 'waiting_user') keepWarm(this, header, this.#known);
    return header && { header, ...draft.turn, ...host.laterTurn(header) };
  }

  /** Entries that could not be written go with the next write. */
  async write(patch: Partial<Header>, add: JournalEntry[], terms: WriteTerms = {}): Promise<Header | undefined> {
    const entries = [...this.#gather(), ...add];
    const whole = this.#refresh ? { ...this.#refresh, ...patch } : patch;
    const header = await (terms.takesLease
      ? this.commits.writeAndTakeLease(whole, entries)
      : this.commits.write(whole, entries, terms));
    if (!header) return undefined;
    this.#background?.steps.written(this.#unwritten);
    this.#unwritten = [];
    this.#refresh = undefined;
    this.#waiting = {};
    return header;
  }

  /** Includes what the run has added since. */
  #gather(): JournalEntry[] {
    const { prefix = [] } = this.input;
    this.input.prefix = undefined;
    this.#unwritten.push(...prefix, ...this.run.take());
    return this.#unwritten;
  }

  /** Parks the session for a version that can continue it. Results of effects are kept; the answer that led here is not. */
  async setAside(error: Error): Promise<void> {
    const { context, flow, stored } = this.input;
    const session = toShortId(this.input.header.id);
    context.log.error({ tool: flow.name, session, error, ...findPlace(error, flow.body) }, 'flow.parked');
    if (!stored && !this.commits.hasLease) return;
    if (!this.#waiting.parked) context.counts.parked(this.input.header);
    const header = { ...this.commits.header, parked: undefined, ...this.#waiting };
    const { patch, dueAt } = toParkedPatch(this.input, header, error);
    this.#refresh = undefined;
    if (this.commits.hasLease) await this.write(patch, [], { dueAt });
    else await this.commits.write(patch, [], { dueAt });
  }

  /** Replaces the run by a new one over these entries. */
  replay(entries: JournalEntry[]): void {
    this.run.leave();
    this.#unwritten = [];
    this.run = resumeOrReplay({ ...this.input, entries, warm: undefined, incoming: undefined }, this);
  }
}

/** Lists every member, so that all inputs have the same shape: V8 creates and reads those faster. */
function toTurnInput(host: TurnHost, request: TurnRequest, next: TurnInput['next']): TurnInput {
  const { flow, header, entries, stored, prefix, incoming, warm, ending, byItself, mayBeHeld, fromOutside } = request;
  return {
    context: host.context,
    host,
    flow,
    header,
    entries,
    stored,
    next,
    prefix,
    incoming,
    warm,
    ending,
    byItself,
    mayBeHeld,
    fromOutside,
  };
}

/** Resumes the body that waits in memory, or starts a new run over the journal. */
function resumeOrReplay(
  { context, flow, header, prefix, entries, warm, next, incoming }: TurnInput,
  host: RunHost,
): BodyRun {
  const now = context.clock.now();
  const turn: RunTurn = {
    now,
    incoming,
    checks: sampled(context.checks, now),
    unasked: header.unasked,
    deadline: header.deadline,
    isPatient: !context.lasting,
    host,
  };
  const waiting = prefix ? undefined : warm?.take();
  if (!waiting) {
    const folded = fold(prefix ? [...entries, ...prefix] : entries);
    const { id: sessionId, locale } = header;
    return new BodyRun({ flow, folded, sessionId, locale, virtual: context.virtual, next }, turn);
  }
  waiting.resume(turn);
  return waiting;
}

const SAMPLE_MS = 1000;
let lastSample = -Infinity;

/** Looking for I/O slows the whole process, so where it only warns, at most one turn per second is looked at. */
function sampled(checks: Checks, now: number): Checks {
  if (checks !== 'warn') return checks;
  // `abs`, because a clock may be set back.
  if (Math.abs(now - lastSample) < SAMPLE_MS) return 'off';
  lastSample = now;
  return 'warn';
}

/** Keeps the body for the next answer. `known`: how many of the written entries the run knew from the start. */
function keepWarm({ input, run, commits }: TurnRunner, header: Header, known: number): void {
  const { warmBodies } = input.context;
  if (!warmBodies.any || !run.canWait || commits.mixed) return;
  const { folded } = run.input;
  extendFold(folded, commits.added.slice(known));
  // The body has received these entries.
  folded.entries = [];
  // Lets go of the turn that is over.
  run.turn.incoming = undefined;
  run.turn.host = undefined;
  warmBodies.keep(new WarmBody(header, run));
}

/** Throws before anything is written. */
function checkEvents({ incoming = [], header }: TurnInput): void {
  for (const one of incoming) {
    if (one.t !== 'arr' || typeof one.verdict !== 'object') continue;
    const { error } = one.verdict;
    throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId: header.id, reason: `the event ${one.k}: ${error}` });
  }
}
