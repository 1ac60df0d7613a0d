// The sessions of a set of flows: every operation on one, each answered with the turn it leads to. Channels and wire use only this.
import { transition } from '../../mcp/flow/flow-states.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { AnyFlow } from '../define.ts';
import type { IncomingAnswer } from '../engine/match-answer.ts';
import { toExplored, NOTHING_FOUND } from '../explore/exploration.ts';
import type { Exploration } from '../explore/exploration.ts';
import {
  isParticipant,
  isIdle,
  callerQuestions,
  isOwner,
  toOwner,
  toStoredShare,
  toDueAt,
  toExpiry,
  isEnded,
  waitsForOthers,
  waitsForPeopleOrEvents,
  questionsFor,
} from '../header.ts';
import type { EarlyEnd, Header } from '../journal.ts';
import type { SessionChange, FlowStore, StoredSession } from '../store/store.ts';
import { endSession } from './ending/end-session.ts';
import { withTrail, readOutcome, withOutcome } from './ending/ended-record.ts';
import { deliverEvent } from './external/deliver-event.ts';
import type { DeliveryResult } from './external/deliver-event.ts';
import { handOverQuestion, limitToPerson, notifyCaller, toPersonView } from './external/people.ts';
import { createSessionContext } from './session-context.ts';
import type { SessionOptions, SessionContext } from './session-context.ts';
import { tellListener } from './session-event.ts';
import type { SessionEvent } from './session-event.ts';
import { checkTimeout, toTombstoneMs } from './flow-limits.ts';
import { toStartFingerprint, toStartedSessionId } from './session-id.ts';
import { Sweeper } from './sweeper.ts';
import { TurnRunner } from './turn/turn-runner.ts';
import type { LiveSession, TurnHost, TurnRequest, Turn } from './turn/turn.ts';
import { loadSession, migrateJournal } from './verbs/load-session.ts';
import type { LoadRequest } from './verbs/load-session.ts';
import { OWNER_KEY, answerForOwner, completeByOwner, continueByOwner } from './verbs/owner.ts';
import { prepareSession } from './verbs/prepare-session.ts';
import { runAnswer, runWarmAnswer, endsSession, receiveAnswers, toCancelReason } from './verbs/receive-answers.ts';
import type {
  AnswerRequest,
  BackRequest,
  CancelRequest,
  CompleteRequest,
  ContinueRequest,
  DeliverRequest,
  EditRequest,
  HandOverRequest,
  SessionRequest,
  StartRequest,
} from './verbs/requests.ts';
import { rewind } from './verbs/rewind.ts';
import { waitForTurn, waitForTime } from './verbs/session-watch.ts';
import { toStateView } from './view.ts';
import type { StateView } from './view.ts';

const MAX_TRIES = 20;
/** Tries for an idle session whose lease has not been released yet. */
const TRIES_AT_REST = 10;

export class Sessions implements TurnHost {
  readonly context: SessionContext;
  readonly flows: ReadonlyMap<string, AnyFlow>;
  readonly #explored: ReadonlyMap<string, Exploration>;
  readonly #live: Map<string, LiveSession>;
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  readonly #sweeper: Sweeper;

  constructor(flows: Iterable<AnyFlow>, options: SessionOptions = {}, of?: { all: Sessions; store: FlowStore }) {
    this.context = of ? { ...of.all.context, store: of.store, lasting: false } : createSessionContext(options);
    this.flows = of ? of.all.flows : new Map([...flows].map((flow) => [flow.name, flow]));
    if (!of) {
      for (const flow of this.flows.values()) checkTimeout(flow, this.context.limits);
      this.context.counts.know(this.flows.keys());
    }
    this.#live = of ? of.all.#live : new Map<string, LiveSession>();
    this.#sweeper = new Sweeper(this);
    if (of) this.#sweeper.stop();
    const { explored, log } = this.context;
    this.#explored = of
      ? of.all.#explored
      : new Map([...this.flows.values()].map((flow) => [flow.name, toExplored(flow, explored, log)]));
  }

  /** The same flows over another store, for one request. It runs no sweeper. */
  over(store: FlowStore): Sessions {
    return new Sessions([], {}, { all: this, store });
  }

  /** The questions of a flow that are known without running it. */
  explored({ name }: AnyFlow): Exploration {
    return this.#explored.get(name) ?? NOTHING_FOUND;
  }

  async start(request: StartRequest): Promise<Turn> {
    const flow = this.flows.get(request.tool);
    if (!flow) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool: request.tool });
    const again = await this.#startedBefore(request);
    if (again) return again;
    const { questions } = this.explored(flow);
    const { header, entries } = await prepareSession(this.context, flow, { request, questions });
    const turn = await this.runTurn({ flow, header, entries: [], prefix: entries, stored: false });
    return turn ?? ((await this.#startedBefore(request)) as Turn);
  }

  /** The client knows how the session ended, so the outcome is no longer needed. */
  async acknowledge(sessionId: string): Promise<void> {
    await this.context.store.forgetOutcome?.(sessionId);
  }

  /** A session that travelled in tokens is now in the store, and the sweeper looks after it. */
  expect(header: Header): void {
    this.#sweeper.expect(header);
  }

  async answer(request: AnswerRequest): Promise<Turn> {
    const warm = runWarmAnswer(this, request);
    const turn = warm && (await warm);
    if (turn) return turn;
    // A process that has died may still have the lease of a session at rest: then the answer is written, and taken up when the lease is over.
    const act = (stored: StoredSession, flow: AnyFlow, tries: number) =>
      this.answerTo(stored, flow, request, tries >= TRIES_AT_REST);
    const answered = await this.#attempt(request, act, this.#loadAsked);
    if (answered.accepted !== false) notifyCaller(this, request.principal, answered);
    return limitToPerson(request.principal, answered);
  }

  /** Hands a question of the caller to another person. */
  async handOver(request: HandOverRequest): Promise<Turn> {
    const act = (stored: StoredSession) => {
      const { next, entry } = handOverQuestion(this.context, stored, request);
      return this.#patched(stored.header, next, { add: [entry], dueAt: entry.ts });
    };
    const turn = await this.#attempt(request, act, this.#load);
    this.onLeft(request.sessionId);
    return limitToPerson(request.principal, turn);
  }

  /** Undefined if another writer was faster. */
  async answerTo(
    stored: StoredSession,
    flow: AnyFlow,
    request: AnswerRequest,
    mayBeHeld = false,
  ): Promise<Turn | undefined> {
    const coming = receiveAnswers(this.context, stored, request);
    const taken = coming instanceof Promise ? await coming : coming;
    if (taken.again) return { ...this.#now(stored.header), accepted: true, verdicts: taken.again };
    const end = taken.incoming.find(endsSession);
    if (end) return this.end(stored, flow, { kind: 'cancel', reason: toCancelReason(end) });
    const [first] = taken.incoming;
    if (first?.k === OWNER_KEY) return this.#answerForOwner(taken.header, first);
    return runAnswer(this, { flow, stored, taken, mayBeHeld });
  }

  /** Delivers an event that a flow waits for, or will wait for (`ask.event`). */
  deliver(request: DeliverRequest): Promise<DeliveryResult> {
    return deliverEvent(this, request);
  }

  async cancel(request: CancelRequest): Promise<Turn> {
    const turn = await this.#attempt(request, async (stored, flow) => {
      transition(stored.header, 'cancel');
      return this.end(stored, flow, { kind: 'cancel', reason: request.reason });
    });
    this.emit({ kind: 'cancelled', header: turn.header });
    return turn;
  }

  async back(request: BackRequest): Promise<Turn> {
    return this.#attempt(request, async (stored, flow) => {
      const entry = { t: 'cut' as const, k: request.key ?? '', ts: this.context.clock.now() };
      return rewind(this, { flow, stored, entry });
    });
  }

  /** Changes an earlier answer. Later answers that are still valid stay. */
  async edit(request: EditRequest): Promise<Turn> {
    const { key: k, value: v, src = 'human' } = request;
    return this.#attempt(request, async (stored, flow) => {
      const entry = { t: 'edit' as const, k, v, src, ts: this.context.clock.now() };
      return rewind(this, { flow, stored, entry });
    });
  }

  /** Gives the user more time. */
  async extend(request: SessionRequest): Promise<Turn> {
    return this.#attempt(request, async ({ header }) => {
      if (header.state !== 'waiting_user') transition(header, 'respond');
      if (header.parked) return { header, questions: callerQuestions(header) };
      const next = { ...header, ...toExpiry(header, this.context.clock.now()) };
      return this.#patched(header, next, { dueAt: toDueAt(next) });
    });
  }

  async continueByOwner(request: ContinueRequest): Promise<Turn> {
    return this.#attempt(request, async ({ header }, flow) => {
      const next = continueByOwner(header, request, { flow, context: this.context });
      return this.#patched(header, next, { dueAt: toDueAt(next) });
    });
  }

  async completeByOwner(request: CompleteRequest): Promise<Turn> {
    return this.#attempt(request, async ({ header }) => {
      const turn = await this.#patched(header, completeByOwner(header, this.context.clock.now()));
      if (turn) this.#live.get(header.id)?.abort();
      return turn && { ...turn, result: request.result, summary: request.summary };
    });
  }

  async getState(request: SessionRequest): Promise<StateView> {
    const stored = await this.#load(request);
    const { header } = stored;
    const theirs = toPersonView(header, request.principal);
    if (theirs) return theirs;
    const outcome = readOutcome(this.context, header);
    return { ...(await toStateView(stored, this.flows.get(header.tool))), ...(outcome && { outcome }) };
  }

  /** Open sessions of a principal, or of its share, oldest first. */
  list(principal: string, share?: string): Promise<Header[]> {
    const { store } = this.context;
    const { salt } = store;
    return store.list(share === undefined ? toOwner(principal, salt) : toStoredShare(principal, share, salt));
  }

  /** Calls the listener for events that no request caused, until the returned function is called. */
  on(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: SessionEvent): void {
    // A copy, because a listener may add listeners, which do not get this event.
    for (const listener of Array.from(this.#listeners)) tellListener(this.context.log, listener, event);
  }

  /** Waits for all running steps and undos of this process. */
  async idle(): Promise<void> {
    await Promise.all([...this.#live.values()].map(({ done }) => done));
  }

  /** Leaves running sessions to another process. */
  async close(): Promise<void> {
    this.#sweeper.stop();
    this.context.warmBodies.clear();
    for (const live of this.#live.values()) live.abort();
    await this.idle();
  }

  /** Handles all sessions that are due now. The sweeper does this on its own schedule. */
  sweep(): Promise<void> {
    return this.#sweeper.sweep();
  }

  /** Handles what is due for one session. */
  attend(sessionId: string): Promise<void> {
    return this.#sweeper.attend(sessionId);
  }

  async runTurn(request: TurnRequest): Promise<Turn | undefined> {
    const { next } = this.explored(request.flow);
    const turn = await new TurnRunner(this, request, next).turn();
    if (!turn) return undefined;
    this.context.counts.turned(turn.header);
    this.#sweeper.expect(turn.header);
    return turn;
  }

  /** Ends a session early. Undefined if another writer was faster. */
  end(stored: StoredSession, flow: AnyFlow | undefined, ending: EarlyEnd): Promise<Turn | undefined> {
    return endSession(this, { stored, flow, ending }, this.#live.get(stored.header.id));
  }

  flowOf({ tool }: Header): AnyFlow {
    const flow = this.flows.get(tool);
    if (!flow) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool });
    return flow;
  }

  isLive(id: string): boolean {
    return this.#live.has(id);
  }

  onLive(live: LiveSession): void {
    this.#live.set(live.id, live);
    void live.done.then((turn) => this.#sweeper.expect(turn.header));
    void live.done.then(() => {
      if (this.#live.get(live.id) === live) this.#live.delete(live.id);
    });
  }

  onDue(id: string): void {
    const { log } = this.context;
    this.#sweeper.attend(id).catch((error: unknown) => log.error({ error }, 'flow.sweep-failed'));
  }

  onMoved(turn: Turn): void {
    this.#sweeper.expect(turn.header);
    this.emit({ kind: 'turn', turn });
  }

  onLeft(id: string): void {
    this.#live.get(id)?.look();
  }

  laterTurn(header: Header): Pick<Turn, 'later'> {
    if (isEnded(header) || callerQuestions(header).length > 0 || !waitsForOthers(header)) return {};
    if (this.context.lasting) return { later: () => waitForTurn(this, header) };
    // Sessions in tokens receive no events.
    return waitsForPeopleOrEvents(header) ? {} : { later: () => waitForTime(this, header) };
  }

  /** Reads and acts again when another writer came in between. */
  async #attempt(
    request: SessionRequest,
    act: (stored: StoredSession, flow: AnyFlow, tries: number) => Promise<Turn | undefined>,
    load = this.#loadOwn,
  ): Promise<Turn> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await load(request);
      this.context.warmBodies.delete(request.sessionId);
      const turn = await act(stored, this.flowOf(stored.header), tries);
      if (turn) return turn;
    }
    throw new GatewayError('FLOW_LIMIT', { what: 'too many at once', limit: 'respondsPerSecond', retryAfterMs: 100 });
  }

  /** Throws if the caller may not see the session. */
  async load(request: LoadRequest): Promise<StoredSession> {
    const stored = await loadSession(this.context, request, (id) => this.#sweeper.attend(id));
    return migrateJournal(stored, this.flows.get(stored.header.tool));
  }

  readonly #loadOwn = (request: SessionRequest): Promise<StoredSession> => this.#loadIf(request, () => false);

  /** Also lets in people who are asked a question of the session. */
  readonly #load = (request: SessionRequest): Promise<StoredSession> =>
    this.#loadIf(request, ({ header }) => questionsFor(header, request.principal).length > 0);

  /** Also lets in people who have answered, since they may repeat a lost request. */
  readonly #loadAsked = (request: SessionRequest): Promise<StoredSession> =>
    this.#loadIf(request, (stored) => isParticipant(stored, request.principal));

  #loadIf({ sessionId, principal }: SessionRequest, isTheirs: (stored: StoredSession) => boolean) {
    return this.load({ sessionId, mayHave: (stored) => isOwner(stored.header, principal) || isTheirs(stored) });
  }

  async #answerForOwner(header: Header, answer: IncomingAnswer): Promise<Turn | undefined> {
    const now = this.context.clock.now();
    const { header: next, turn } = answerForOwner(header, answer, now);
    const done = await this.#patched(header, next, { dueAt: now + this.context.leaseMs });
    return done && { ...done, ...turn };
  }

  /** The current state, with the turn that follows without a request. */
  #now(header: Header): Turn {
    const next = this.#live.get(header.id)?.next;
    return {
      header,
      questions: callerQuestions(header),
      ...withOutcome(this.context, header),
      ...(next && { next }),
      ...(isIdle(header) && this.laterTurn(header)),
    };
  }

  /** The session that the client already started with this id. */
  async #startedBefore({ principal, startId, tool, args }: StartRequest): Promise<Turn | undefined> {
    if (startId === undefined) return undefined;
    const sessionId = toStartedSessionId(principal, startId);
    if (!(await this.context.store.load(sessionId))) return undefined;
    const { header } = await this.#loadOwn({ principal, sessionId });
    if (header.started === toStartFingerprint(tool, args)) return this.#now(header);
    throw new GatewayError('START_ID_USED');
  }

  async #patched(header: Header, next: Header, options: Omit<SessionChange, 'patch'> = {}): Promise<Turn | undefined> {
    const { store, limits } = this.context;
    const change = {
      patch: await withTrail(this.context, next),
      ...options,
      tombstoneMs: toTombstoneMs(limits, header),
    };
    const done = await store.commit(header.id, header.rev, change);
    if (!done.ok) return undefined;
    this.context.counts.wrote(header, next, []);
    this.#sweeper.expect(next);
    return { header: { ...next, rev: done.rev }, questions: callerQuestions(next) };
  }
}
