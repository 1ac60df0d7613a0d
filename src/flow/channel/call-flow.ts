// Runs a flow for a tools/call. Arguments count as answers; the other questions are asked in any way the client supports, round by round,
// until the flow ends.
import type { Exchange } from '../../kernel/exchange.ts';
import { readReceiptRequest, readStartId } from '../../kernel/interaction.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { readOptionalObject } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { toToolResult } from '../../sdk/server/tools.ts';
import { isAnonymous } from '../../kernel/base/anonymous.ts';
import { cancelledBy, isGone } from '../../kernel/base/cancelled-error.ts';
import { rejectOnAbort } from '../../kernel/base/timing.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { AnyFlow } from '../define.ts';
import type { Header } from '../journal.ts';
import { peopleOf, shareOf, isEnded, hasSameQuestions } from '../header.ts';
import { toStartedSessionId } from '../session-id.ts';
import { SessionWatch } from '../session/verbs/session-watch.ts';
import type { SessionRequest } from '../session/context/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { settled, afterSteps } from '../session/turn/turn.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { TokenSessions } from '../token/token-sessions.ts';
import { awaitRest, reserveSessionId, ResumeDeclinedError, offerResume } from './abandoned-sessions.ts';
import { withReceipt } from './call-receipts.ts';
import type { CallReceipts, CallStart, SentResults } from './call-receipts.ts';
import { localeOf } from './locale-of.ts';
import { CannotAskError, acceptWithoutAsking } from './cannot-ask.ts';
import { toFormAsk } from './client-form.ts';
import type { FormRound } from './client-form.ts';
import { applyReply } from './apply-reply.ts';
import { askAlive, sendProgress, reportProgress } from './report-progress.ts';
import { answerWithCall, startedSessionOf, toStartedState, callWithToken, toSuspendedRound } from './token-call.ts';
import type { TokenCallRound } from './token-call.ts';

/** The sessions that calls of flows use. */
export interface FlowCallContext {
  /** Stored sessions, whose calls wait. */
  sessions: Sessions;
  /** Sessions in tokens, whose calls end with questions. */
  tokenSessions: TokenSessions;
  /** Waiting calls in this process, by stored session. */
  waiting: Map<string, Exchange>;
  /** Results that a gateway has and its client may not have yet. */
  receipts: CallReceipts;
  /** Results that were sent and may not have been read. */
  sent: SentResults;
}

export async function callFlow(exchange: Exchange, flow: AnyFlow, context: FlowCallContext): Promise<ResultObject> {
  const { principal, info } = exchange.client;
  const args = readOptionalObject(exchange.params, 'arguments') ?? {};
  const client = { name: info.name, version: info.version };
  const locale = localeOf(exchange, flow.options.messages);
  const startId = readStartId(exchange.params);
  // The result of a task is fetched from here, and that of a call with a start id comes again when the call is repeated.
  const isFetched = startId !== undefined || (exchange.task && flow.options.long);
  const receipt = isFetched ? undefined : readReceiptRequest(exchange.params);
  const share = shareOf(exchange.client);
  const start: CallStart = { principal, share, tool: flow.name, args, client, via: 'elicit', locale, receipt, startId };
  try {
    const begun = await startCall(exchange, start, context);
    const { suspended, turn } = begun.suspended ? begun : await playRounds(begun, exchange, context);
    if (suspended) return suspended;
    if (isRepeatable(exchange)) return await toKeptResult(turn, flow);
    const isHeld = receipt !== undefined && turn.header.started !== undefined && isEnded(turn.header);
    if (!isHeld) {
      acknowledgeLater(exchange, context, turn);
      return await toResult(turn, flow);
    }
    stopWaiting(context.waiting, turn.header.id, exchange);
    context.receipts.hold(turn.header.id, receipt);
    return withReceipt(await toResult(turn, flow), turn.header.id);
  } catch (thrown) {
    return toErrorResult(thrown);
  }
}

/** The call has a start id, or repeats one that has. Its result stays for the next call with that id. */
function isRepeatable(exchange: Exchange): boolean {
  return readStartId(exchange.params) !== undefined || startedSessionOf(exchange) !== undefined;
}

async function startCall(exchange: Exchange, start: CallStart, context: FlowCallContext): Promise<TokenCallRound> {
  const { sessions } = context;
  const { principal, startId } = start;
  const sessionId = startedSessionOf(exchange);
  if (sessionId !== undefined) return { turn: await awaitRest(sessions, { principal, sessionId }, exchange.signal) };
  if (exchange.resumed?.state !== undefined) return callWithToken(exchange, start, context);
  if (startId !== undefined) return startInStore(exchange, start, context, toStartedSessionId(principal, startId));
  const left = await offerResume(exchange, start, context);
  if (left) return { turn: left };
  // Not after it has asked something and waits here, nor for a gateway, which would lose the state for its client.
  if (exchange.maySuspend && !start.receipt) return callWithToken(exchange, start, context);
  const reserved = isAnonymous(principal) ? undefined : await reserveSessionId(sessions, start);
  return startInStore(exchange, start, context, reserved);
}

/** Starts the session, or joins the one that was started with the same id. */
async function startInStore(
  exchange: Exchange,
  start: CallStart,
  { sessions, waiting }: FlowCallContext,
  sessionId: string | undefined,
): Promise<TokenCallRound> {
  if (sessionId !== undefined) waiting.set(sessionId, exchange);
  const reporter = reportProgress(exchange, sessions, sessionId);
  try {
    const turn = await sessions.start({ ...start, sessionId });
    reporter.of(turn.header.id);
    return { turn: await afterSteps(turn) };
  } catch (thrown) {
    if (sessionId !== undefined) stopWaiting(waiting, sessionId, exchange);
    throw thrown;
  } finally {
    reporter.stop();
  }
}

/** Keeps the outcome until the client has had time to read it. If the client is gone, or never fetches it, it stays for a later call. */
function acknowledgeLater(exchange: Exchange, { sessions, waiting, sent }: FlowCallContext, { header }: Turn): void {
  const { log } = sessions.context;
  const { id, started } = header;
  stopWaiting(waiting, id, exchange);
  if (started === undefined || exchange.signal.aborted || exchange.isConnected === false) return;
  const acknowledge = async (): Promise<void> => {
    await sessions.acknowledge(id).catch((error: unknown) => log.warn({ error }, 'flow.store-failed'));
    stopWaiting(waiting, id, exchange);
  };
  const onTaken = (): void => {
    waiting.set(id, exchange); // do not offer it to another call meanwhile
    sent.add(id, acknowledge);
  };
  if (exchange.whenTaken) exchange.whenTaken(onTaken);
  else onTaken();
}

/** Another call of the user may wait for the session by now. */
function stopWaiting(waiting: FlowCallContext['waiting'], sessionId: string, exchange: Exchange): void {
  if (waiting.get(sessionId) === exchange) waiting.delete(sessionId);
}

async function playRounds(first: FormRound, exchange: Exchange, context: FlowCallContext): Promise<TokenCallRound> {
  const { sessions, waiting } = context;
  let round = first;
  if (isEnded(round.turn.header) && isKnown(round.turn)) return round;
  const session = { principal: exchange.client.principal, sessionId: round.turn.header.id };
  const { principal, sessionId } = session;
  let isForOthers = false;
  const giveUp = (): void => {
    if (!isAnonymous(principal) && mayComeBack(exchange.signal, isForOthers)) return;
    if (waiting.get(sessionId) !== exchange) return; // another call waits for it
    void sessions.cancel({ principal, sessionId, reason: 'The call was given up' }).catch(() => {});
  };
  const moves = new SessionWatch(sessions, round.turn.header);
  waiting.set(sessionId, exchange);
  const reporter = reportProgress(exchange, sessions, sessionId);
  const onWaiting = ({ header }: Turn): void => {
    isForOthers = peopleOf(header).length > 0;
    reporter.waits(header);
  };
  exchange.signal.addEventListener('abort', giveUp, { once: true });
  try {
    const { signal } = exchange;
    const rest = (turn: Turn) => orCancelled(awaitQuestion(turn, sessions, { principal, signal, onWaiting }), signal);
    round = { ...round, turn: await rest(round.turn) };
    let given = answerWithCall(exchange, round.turn);
    while (round.turn.questions.length > 0) {
      const suspended = given ? undefined : suspendStarted(exchange, round, sessions);
      if (suspended) return { ...round, suspended };
      isForOthers = false;
      reporter.goesOn();
      const next = await answerRound(exchange, round, { sessions, session, moves, given, onWaiting });
      given = undefined;
      round = { ...next, turn: await rest(next.turn) };
    }
    return round;
  } catch (thrown) {
    giveUp(); // it has ended, or nobody will come back for it
    throw thrown;
  } finally {
    reporter.stop();
    exchange.signal.removeEventListener('abort', giveUp);
    moves.close();
    stopWaiting(waiting, sessionId, exchange);
  }
}

interface RoundContext {
  sessions: Sessions;
  session: SessionRequest;
  moves: SessionWatch;
  /** The answer, if it came with the call. */
  given: JsonObject | undefined;
  onWaiting: (turn: Turn) => void;
}

/** Asks the client, and continues with its answer or with what the session has come to without it. */
async function answerRound(exchange: Exchange, round: FormRound, context: RoundContext): Promise<FormRound> {
  const { sessions, session, moves, given, onWaiting } = context;
  const { progress, questions, header } = round.turn;
  if (progress) sendProgress(exchange, progress);
  if (given) moves.from(round.turn, () => {});
  const answer = given ?? (await askClient(exchange, round, moves, sessions.context.clock));
  if (!answer) return toMovedRound(moves);
  const applied = applyReply(sessions, session, { questions, answer, via: 'elicit', onWaiting });
  const recovered = applied.catch((thrown) => recoverLateAnswer(thrown, moves, { sessions, session, shown: header }));
  return orCancelled(recovered, exchange.signal);
}

/** A call with a start id ends with its questions where it may: another process may get the answers. */
function suspendStarted(exchange: Exchange, round: FormRound, sessions: Sessions): JsonObject | undefined {
  if (!exchange.maySuspend || !isRepeatable(exchange)) return undefined;
  const { header } = round.turn;
  return toSuspendedRound(exchange, toFormAsk(round), { header, state: toStartedState(header), sessions });
}

/** Waits for a turn that asks something, or for the end. If another process continues the session, polls the store. */
async function awaitQuestion(
  turn: Turn,
  sessions: Sessions,
  { principal, signal, onWaiting }: { principal: string; signal: AbortSignal; onWaiting: (turn: Turn) => void },
): Promise<Turn> {
  const session = { principal, sessionId: turn.header.id };
  let last = await settled(turn, onWaiting);
  let isLast = signal.aborted;
  while (!isLast && !isKnown(last)) {
    last = await settled(await awaitRest(sessions, session, signal), onWaiting);
    isLast = signal.aborted || isEnded(last.header) || last.header.parked !== undefined;
  }
  return last;
}

/** Whether the turn asks something or has an outcome. */
function isKnown({ header, questions, ...turn }: Turn): boolean {
  return questions.length > 0 || 'result' in turn || turn.failure !== undefined || header.state === 'cancelled';
}

/**
 * Whether the user may come back. A client that cancels while others are asked has often just timed out, and those would be asked twice.
 * While its own user is asked, a cancel is the user's decision.
 */
function mayComeBack({ aborted, reason }: AbortSignal, isForOthers: boolean): boolean {
  return aborted && (isForOthers || isGone(reason));
}

/** Other people may take days, so a cancel must end the wait. */
function orCancelled<T>(coming: Promise<T>, signal: AbortSignal): Promise<T> {
  return rejectOnAbort(coming, signal, () => cancelledBy(signal));
}

/** Undefined if the session continued on its own, which withdraws the question. */
async function askClient(
  exchange: Exchange,
  round: FormRound,
  moves: SessionWatch,
  clock: Clock,
): Promise<JsonObject | undefined> {
  const { questions, header } = round.turn;
  const until = Math.min(header.expiresAt, ...questions.map((question) => question.until ?? Infinity));
  const ask = { ...toFormAsk(round), waitsMs: Math.max(0, until - clock.now()) };
  if (!exchange.canAsk(ask)) return acceptWithoutAsking(questions);
  const withdrawal = new AbortController();
  moves.from(round.turn, () => withdrawal.abort());
  try {
    return await askAlive(exchange, ask, { clock, signal: withdrawal.signal });
  } catch (thrown) {
    if (moves.moved) return undefined;
    if (!(thrown instanceof GatewayError) || thrown.code !== 'CLIENT_CANNOT_BE_ASKED') throw thrown;
    return acceptWithoutAsking(questions);
  }
}

async function toMovedRound({ moved, isLate }: SessionWatch): Promise<FormRound> {
  return {
    turn: await moved!,
    told: `The previous question ${isLate ? 'was not answered in time' : 'is no longer asked'}.`,
  };
}

/** The session cannot take the answer, because of what it has come to meanwhile. */
const OVERTAKEN: ReadonlySet<string> = new Set(['FLOW_INVALID_TRANSITION', 'FLOW_ALREADY_CANCELLED']);

interface LateAnswer {
  sessions: Sessions;
  session: SessionRequest;
  /** The session when its questions were shown. */
  shown: Header;
}

/**
 * The answer came too late: its time was over, or another process has taken an answer or decided without one. The call goes on with what
 * the session has come to: work that it waits for, the next question, or the end.
 */
async function recoverLateAnswer(thrown: unknown, moves: SessionWatch, late: LateAnswer): Promise<FormRound> {
  if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_')) throw thrown;
  if (moves.moved) return toMovedRound(moves);
  if (!OVERTAKEN.has(thrown.code)) throw thrown;
  const { header, questions, outcome } = await late.sessions.getState(late.session);
  if (!isEnded(header) && header.state === 'waiting_user' && hasSameQuestions(header, late.shown)) throw thrown;
  return { turn: { header, questions, ...outcome }, told: 'The previous question is no longer asked.' };
}

/** The result may have been too large to be kept. */
function toKeptResult(turn: Turn, flow: AnyFlow): JsonObject | Promise<JsonObject> {
  const { id: sessionId, state } = turn.header;
  if (!isEnded(turn.header) || isKnown(turn)) return toResult(turn, flow);
  const reason = 'it was started by an earlier call with this start id, and its result is not kept any more';
  throw new GatewayError('FLOW_INVALID_TRANSITION', { sessionId, state, reason });
}

function toResult(turn: Turn, { name, output }: AnyFlow): JsonObject | Promise<JsonObject> {
  if (turn.failure) return toFailed(turn.failure.message);
  const { state, reason, parked } = turn.header;
  if (parked && !isEnded(turn.header)) return toFailed(parked.reason);
  if (state === 'cancelled') return toFailed(`${name} was cancelled${reason === undefined ? '' : `: ${reason}`}`);
  return toToolResult(turn.result, { key: name, output });
}

/** Turns errors of the session into failed results; an unknown state is an invalid request. */
function toErrorResult(thrown: unknown): JsonObject {
  if (thrown instanceof CannotAskError || thrown instanceof ResumeDeclinedError) return toFailed(thrown.message);
  if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_')) throw thrown;
  if (thrown.code === 'FLOW_SESSION_NOT_FOUND') throw new GatewayError('STATE_INVALID');
  return toFailed(thrown.message);
}

function toFailed(text: string): JsonObject {
  return { content: [{ type: 'text', text }], isError: true };
}
