// The sessions of a set of flows: every request about one, each answered with the turn it leads to. Channels and wire use only this; what happens
// besides requests is in background.ts.
import { transition } from '../../mcp/flow/flow-states.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { AnyFlow } from '../define.ts';
import { toExplored } from '../explore/exploration.ts';
import type { Exploration } from '../explore/exploration.ts';
import {
  isParticipant,
  callerQuestions,
  isOwner,
  toOwner,
  toStoredShare,
  toDueAt,
  toExpiry,
  questionsFor,
} from '../header.ts';
import type { Header } from '../journal.ts';
import type { FlowStore, StoredSession } from '../store/store.ts';
import { Background } from './background.ts';
import { readOutcome } from './turn/ended-record.ts';
import { deliverEvent } from './external/deliver-event.ts';
import type { DeliveryResult } from './external/deliver-event.ts';
import { handOverQuestion, limitToPerson, notifyCaller, toPersonView } from './external/people.ts';
import { createSessionContext } from './context/session-context.ts';
import type { SessionOptions, SessionContext } from './context/session-context.ts';
import type { SessionEvent } from './turn/session-event.ts';
import { checkTimeout } from './context/flow-limits.ts';
import { toStartFingerprint, toStartedSessionId } from '../session-id.ts';
import type { TurnRequest } from './turn/turn-request.ts';
import type { Turn } from './turn/turn.ts';
import { answerSession, toPresentTurn, writeHeader } from './verbs/answer-session.ts';
import type { LoadRequest } from './values/load-session.ts';
import { completeByOwner, continueByOwner } from './verbs/owner.ts';
import { prepareSession } from './verbs/prepare-session.ts';
import { runWarmAnswer } from './verbs/receive-answers.ts';
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
} from './context/requests.ts';
import { rewind } from './verbs/rewind.ts';
import { toStateView } from './verbs/view.ts';
import type { StateView } from './verbs/view.ts';

const MAX_TRIES = 20;
/** Tries for an idle session whose lease has not been released yet. */
const TRIES_AT_REST = 10;

export class Sessions {
  readonly context: SessionContext;
  readonly flows: ReadonlyMap<string, AnyFlow>;
  readonly #background: Background;

  constructor(flows: Iterable<AnyFlow>, options: SessionOptions = {}, background?: Background) {
    this.#background = background ?? createBackground(flows, options);
    this.context = this.#background.context;
    this.flows = this.#background.flows;
  }

  /** The same flows over another store, for one request. It attends to nothing by itself. */
  over(store: FlowStore): Sessions {
    return new Sessions([], {}, this.#background.over({ ...this.context, store, lasting: false }));
  }

  /** The questions of a flow that are known without running it. */
  explored(flow: AnyFlow): Exploration {
    return this.#background.explored(flow);
  }

  async start(request: StartRequest): Promise<Turn> {
    const flow = this.flows.get(request.tool);
    if (!flow) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool: request.tool });
    const again = await this.#startedBefore(request);
    if (again) return again;
    const { questions } = this.explored(flow);
    const { header, entries } = await prepareSession(this.context, flow, { request, questions });
    const turn = await this.#background.runTurn({ flow, header, entries: [], prefix: entries, stored: false });
    return turn ?? ((await this.#startedBefore(request)) as Turn);
  }

  /** The client knows how the session ended, so the outcome is no longer needed. */
  async acknowledge(sessionId: string): Promise<void> {
    await this.context.store.forgetOutcome?.(sessionId);
  }

  /** A session that travelled in tokens is now in the store, and is attended to when it is due. */
  expect(header: Header): void {
    this.#background.expect(header);
  }

  async answer(request: AnswerRequest): Promise<Turn> {
    const warm = runWarmAnswer(this.#background, request);
    const turn = warm && (await warm);
    if (turn) return turn;
    // A process that has died may still have the lease of a session at rest: then the answer is written, and taken up when the lease is over.
    const act = (stored: StoredSession, flow: AnyFlow, tries: number) =>
      answerSession(this.#background, { stored, flow, request, mayBeHeld: tries >= TRIES_AT_REST });
    const answered = await this.#attempt(request, act, this.#loadAsked);
    if (answered.accepted !== false) notifyCaller(this.#background, request.principal, answered);
    return limitToPerson(request.principal, answered);
  }

  /** Hands a question of the caller to another person. */
  async handOver(request: HandOverRequest): Promise<Turn> {
    const act = (stored: StoredSession) => {
      const { next, entry } = handOverQuestion(this.context, stored, request);
      return writeHeader(this.#background, { header: stored.header, next }, { add: [entry], dueAt: entry.ts });
    };
    const turn = await this.#attempt(request, act, this.#load);
    this.#background.onLeft(request.sessionId);
    return limitToPerson(request.principal, turn);
  }

  /** Delivers an event that a flow waits for, or will wait for (`ask.event`). */
  deliver(request: DeliverRequest): Promise<DeliveryResult> {
    return deliverEvent(this.#background, request);
  }

  async cancel(request: CancelRequest): Promise<Turn> {
    const turn = await this.#attempt(request, async (stored, flow) => {
      transition(stored.header, 'cancel');
      return this.#background.end(stored, flow, { kind: 'cancel', reason: request.reason });
    });
    this.#background.emit({ kind: 'cancelled', header: turn.header });
    return turn;
  }

  async back(request: BackRequest): Promise<Turn> {
    return this.#attempt(request, async (stored, flow) => {
      const entry = { t: 'cut' as const, k: request.key ?? '', ts: this.context.clock.now() };
      return rewind(this.#background, { flow, stored, entry });
    });
  }

  /** Changes an earlier answer. Later answers that are still valid stay. */
  async edit(request: EditRequest): Promise<Turn> {
    const { key: k, value: v, src = 'human' } = request;
    return this.#attempt(request, async (stored, flow) => {
      const entry = { t: 'edit' as const, k, v, src, ts: this.context.clock.now() };
      return rewind(this.#background, { flow, stored, entry });
    });
  }

  /** Gives the user more time. */
  async extend(request: SessionRequest): Promise<Turn> {
    return this.#attempt(request, async ({ header }) => {
      if (header.state !== 'waiting_user') transition(header, 'respond');
      if (header.parked) return { header, questions: callerQuestions(header) };
      const next = { ...header, ...toExpiry(header, this.context.clock.now()) };
      return writeHeader(this.#background, { header, next }, { dueAt: toDueAt(next) });
    });
  }

  async continueByOwner(request: ContinueRequest): Promise<Turn> {
    return this.#attempt(request, async ({ header }, flow) => {
      const next = continueByOwner(header, request, { flow, context: this.context });
      return writeHeader(this.#background, { header, next }, { dueAt: toDueAt(next) });
    });
  }

  async completeByOwner(request: CompleteRequest): Promise<Turn> {
    return this.#attempt(request, async ({ header }) => {
      const next = completeByOwner(header, this.context.clock.now());
      const turn = await writeHeader(this.#background, { header, next });
      if (turn) this.#background.leave(header.id);
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
    return this.#background.on(listener);
  }

  /** Waits for all running steps and undos of this process. */
  idle(): Promise<void> {
    return this.#background.idle();
  }

  /** Leaves running sessions to another process. */
  close(): Promise<void> {
    return this.#background.close();
  }

  /** Handles all sessions that are due now. A timer does this on its own schedule. */
  sweep(): Promise<void> {
    return this.#background.sweep();
  }

  /** Handles what is due for one session. */
  attend(sessionId: string): Promise<void> {
    return this.#background.attend(sessionId);
  }

  runTurn(request: TurnRequest): Promise<Turn | undefined> {
    return this.#background.runTurn(request);
  }

  emit(event: SessionEvent): void {
    this.#background.emit(event);
  }

  flowOf(header: Header): AnyFlow {
    return this.#background.flowOf(header);
  }

  isLive(id: string): boolean {
    return this.#background.isLive(id);
  }

  /** Throws if the caller may not see the session. */
  load(request: LoadRequest): Promise<StoredSession> {
    return this.#background.load(request);
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

  /** The session that the client already started with this id. */
  async #startedBefore({ principal, startId, tool, args }: StartRequest): Promise<Turn | undefined> {
    if (startId === undefined) return undefined;
    const sessionId = toStartedSessionId(principal, startId);
    if (!(await this.context.store.load(sessionId))) return undefined;
    const { header } = await this.#loadOwn({ principal, sessionId });
    if (header.started === toStartFingerprint(tool, args)) return toPresentTurn(this.#background, header);
    throw new GatewayError('START_ID_USED');
  }
}

function createBackground(flows: Iterable<AnyFlow>, options: SessionOptions): Background {
  const context = createSessionContext(options);
  const all = new Map([...flows].map((flow) => [flow.name, flow]));
  for (const flow of all.values()) checkTimeout(flow, context.limits);
  context.counts.know(all.keys());
  const { explored, log } = context;
  const found = new Map([...all.values()].map((flow) => [flow.name, toExplored(flow, explored, log)]));
  return new Background(context, { flows: all, explored: found });
}
