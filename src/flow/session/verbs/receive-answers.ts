// Answers to a session: finds their questions, recognizes repeated answers, checks who may answer, and runs the turn, with the body that
// waits in memory or with a replay. The values are validated when the body reaches the question; only hostile ones are rejected before.
import { isDeepStrictEqual } from 'node:util';
import { transition } from '../../../mcp/flow/flow-states.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { shorten } from '../../../kernel/base/visible.ts';
import type { AnyFlow } from '../../define.ts';
import type { IncomingAnswer } from '../../engine/run-input.ts';
import { isEnded, isOwner, callerQuestions, questionsFor, findAnswerer, hasOverdue } from '../../header.ts';
import type { AnswerEntry, JournalEntry, Header } from '../../journal.ts';
import { checkAnswer } from '../../question/check-answer.ts';
import type { Question } from '../../question/question.ts';
import type { StoredSession } from '../../store/store.ts';
import { findRepeatedAnswers } from '../turn/ended-record.ts';
import type { FlowLimits } from '../context/flow-limits.ts';
import type { SessionContext } from '../context/session-context.ts';
import type { SessionHost } from '../turn/turn-request.ts';
import type { WarmSession } from '../context/warm-bodies.ts';
import type { Verdict, Turn } from '../turn/turn.ts';
import { isStoredAnswer, storeApart } from '../values/secrets.ts';
import { OWNER_KEY } from './owner.ts';
import type { AnswerRequest, GivenAnswer } from '../context/requests.ts';
import { FLOW_STATE } from '../../../kernel/methods.ts';

interface ReceivedAnswers {
  incoming: IncomingAnswer[];
  /** Counts these answers in `burst`. */
  header: Header;
  /** Verdicts, if the same person already gave all these answers and missed the reply. */
  again?: Record<string, Verdict> | undefined;
}

/** Returns no promise unless answers may be repeated or must be stored apart: most turns have nothing to wait for. */
export function receiveAnswers(
  context: SessionContext,
  stored: StoredSession,
  request: AnswerRequest,
): ReceivedAnswers | Promise<ReceivedAnswers> {
  const { header } = stored;
  for (const { value, meta } of request.answers) {
    rejectHostileValue(value, header.id, context.limits);
    rejectHostileValue(meta, header.id, context.limits);
  }
  if (!mayBeAgain(stored, request.answers)) return toNew(context, header, request);
  return toAgain(context, stored, request).then((again) =>
    again ? { incoming: [], header, again } : toNew(context, header, request),
  );
}

function toNew(
  context: SessionContext,
  header: Header,
  request: AnswerRequest,
): ReceivedAnswers | Promise<ReceivedAnswers> {
  if (header.state !== 'waiting_user') transition(header, 'respond'); // throws: nothing is asked
  const counted = { ...header, burst: toBurst(context, header) };
  const takings = request.answers.map((answer) => ({
    header,
    question: find(header, answer, request),
    answer,
    request,
  }));
  const incoming = takings.map(toTaken);
  if (!takings.some(isApart)) return { incoming, header: counted };
  return takeAllApart(context, takings, incoming).then((taken) => ({ incoming: taken, header: counted }));
}

/** Cancelling a question, or its timeout, ends the session unless the author chose otherwise. */
export function endsSession({ no, question }: IncomingAnswer): boolean {
  return (
    (no === 'cancelled' && question?.onCancel !== 'throw') || (no === 'timeout' && question?.onTimeout === 'cancel')
  );
}

export function toCancelReason({ no }: IncomingAnswer): string {
  return no === 'timeout' ? 'A question was not answered in time' : 'User cancelled';
}

/** Cheap test whether these answers can be a repetition. */
function mayBeAgain({ header, entries }: StoredSession, answers: GivenAnswer[]): boolean {
  return answers.length > 0 && (isEnded(header) || answers.every((answer) => entryFor(entries, promptIdOf(answer))));
}

/** A repeated answer of the same person is accepted before any other check. Other people must not be able to guess answers this way. */
async function toAgain(
  context: SessionContext,
  { header, entries }: StoredSession,
  { answers, principal, isForAll }: AnswerRequest,
): Promise<Record<string, Verdict> | undefined> {
  const who = isOwner(header, principal) ? undefined : principal;
  const isTheirs = (one: Pick<AnswerEntry, 'who'>) => isForAll === true || one.who === who || one.who === principal;
  if (isEnded(header) && entries.length === 0) {
    const ids = await findRepeatedAnswers(context, header, answers, isTheirs);
    return ids && Object.fromEntries(ids.map((promptId) => [promptId, { valid: true }]));
  }
  for (const answer of answers) {
    const entry = entryFor(entries, promptIdOf(answer));
    if (!entry || !isTheirs(entry)) return undefined;
    if (!(isSame(entry, answer) || (await isStoredAnswer(context, header.id, entry, answer.value)))) return undefined;
  }
  return Object.fromEntries(answers.map((answer) => [promptIdOf(answer), { valid: true }]));
}

function promptIdOf({ promptId, sent }: GivenAnswer): string | undefined {
  return promptId ?? sent?.promptId;
}

function entryFor(entries: JournalEntry[], promptId: string | undefined): AnswerEntry | undefined {
  const at = promptId?.lastIndexOf('~') ?? -1;
  if (promptId === undefined || at < 0) return undefined;
  const [key, attempt] = [promptId.slice(0, at), Number(promptId.slice(at + 1))];
  return entries.find((one): one is AnswerEntry => one.t === 'ans' && one.a === attempt && one.k === key);
}

/** An empty answer repeats one that got the default. */
function isSame(entry: AnswerEntry, { value, no }: GivenAnswer): boolean {
  if (entry.no !== no) return false;
  if (entry.src === 'default' && (value === undefined || value === null || value === '')) return true;
  return isDeepStrictEqual(entry.v ?? null, value ?? null);
}

function find(header: Header, answer: GivenAnswer, { isForAll, principal }: AnswerRequest): Question {
  const current = header.current as Question[];
  const isNamed = answer.promptId !== undefined || answer.sent !== undefined || isForAll;
  const own = isOwner(header, principal) ? callerQuestions(header) : questionsFor(header, principal);
  const question = (isNamed ? current : own).find(isFor(answer));
  if (question && !(answer.isUnacknowledged && question.consent !== undefined)) return question;
  throw new GatewayError('FLOW_INVALID_TRANSITION', {
    sessionId: header.id,
    state: header.state,
    reason: toWhyNot(answer),
    currentPrompt: own[0]?.prompt,
  });
}

function isFor({ promptId, sent }: GivenAnswer): (question: Question) => boolean {
  if (promptId !== undefined) return (one) => one.promptId === promptId;
  if (sent === undefined) return () => true;
  // The same question may have been asked again meanwhile, with a new attempt number.
  return (one) => one.promptId === sent?.promptId || isSameAs(one, sent);
}

function isSameAs({ key, pin }: Question, sent: GivenAnswer['sent']): boolean {
  return key === sent?.key && pin !== undefined && pin === sent.pin;
}

function toWhyNot({ promptId, sent, isUnacknowledged }: GivenAnswer): string {
  if (isUnacknowledged)
    return `the client has not acknowledged the question ${shorten(promptId ?? '')}; it has to name its promptId`;
  if (promptId !== undefined) return `the question ${shorten(promptId)} is not open`;
  if (sent) return `the question that this client was sent last (${sent.promptId}) is no longer open; name a promptId`;
  return `no question of this session was sent to this client; name a promptId, or call ${FLOW_STATE} first`;
}

interface Taking {
  header: Header;
  question: Question;
  answer: GivenAnswer;
  request: AnswerRequest;
}

function toTaken({ header, question, answer, request }: Taking): IncomingAnswer {
  const { key: k, attempt: a } = question;
  const { value: v, at, meta } = answer;
  const via = request.via ?? header.via;
  const who = request.isForAll ? question.person?.principal : findAnswerer(header, question, request.principal);
  // Another person cannot cancel the session.
  const no = who !== undefined && !request.isForAll && answer.no === 'cancelled' ? 'declined' : answer.no;
  // An answer from a client that nobody vouches for is not a human approval.
  const src = request.isUnproven && question.by === 'human' ? 'model' : (request.src ?? 'human');
  return { t: 'in', k, a, who, v, no, src, via, at, meta, question };
}

/** All other answers are validated when the body reaches the question. */
function isApart({ question, answer }: Taking): boolean {
  return answer.no === undefined && (question.secret === true || question.kind === 'file');
}

/** In order. */
async function takeAllApart(
  context: SessionContext,
  takings: Taking[],
  incoming: IncomingAnswer[],
): Promise<IncomingAnswer[]> {
  const taken: IncomingAnswer[] = [];
  for (const [at, taking] of takings.entries()) {
    const one = incoming[at]!;
    taken.push(isApart(taking) ? await takeApart(context, taking, one) : one);
  }
  return taken;
}

async function takeApart(
  context: SessionContext,
  { header, question }: Taking,
  incoming: IncomingAnswer,
): Promise<IncomingAnswer> {
  const checked = checkAnswer(incoming.v, question);
  if ('complaint' in checked) return incoming;
  const isSecret = question.secret === true;
  const apart = await storeApart(context, header, { isSecret, value: checked.value });
  return apart ? { ...incoming, v: apart.ref, stored: true } : incoming;
}

/** Limits the answers per second. */
function toBurst({ clock, limits }: SessionContext, { burst, id }: Header): Header['burst'] {
  const now = clock.now();
  if (!burst || now - burst.from >= 1000) return { from: now, count: 1 };
  if (burst.count < limits.respondsPerSecond) return { ...burst, count: burst.count + 1 };
  throw new GatewayError('FLOW_LIMIT', {
    sessionId: id,
    what: 'too many answers in a second',
    limit: 'respondsPerSecond',
    retryAfterMs: burst.from + 1000 - now,
  });
}

interface AnswerInput {
  flow: AnyFlow;
  stored: WarmSession;
  taken: ReceivedAnswers;
  /** Another process may hold the session, though its header does not say so. */
  mayBeHeld?: boolean | undefined;
}

/** Undefined if another writer was faster. */
export function runAnswer(
  sessions: SessionHost,
  { flow, stored, taken, mayBeHeld }: AnswerInput,
): Promise<Turn | undefined> {
  const { header, incoming } = taken;
  const { entries, warm } = stored;
  return sessions
    .runTurn({ flow, header, entries, warm, incoming, stored: true, ...(mayBeHeld && { mayBeHeld }) })
    .then(unlessRefused);
}

function unlessRefused(turn: Turn | undefined): Turn | undefined {
  if (turn?.failure?.name === 'FLOW_VALIDATION_FAILED') {
    throw new GatewayError('FLOW_VALIDATION_FAILED', turn.failure.data as Record<string, unknown>);
  }
  return turn;
}

/** Undefined if no warm body fits. Rejecting an answer is left to the caller, which reads the store: the warm state may be stale. */
export function runWarmAnswer(sessions: SessionHost, request: AnswerRequest): Promise<Turn | undefined> | undefined {
  const { warmBodies, clock } = sessions.context;
  const warm = warmBodies.get(request.sessionId);
  if (!warm || !isOwner(warm.header, request.principal)) return undefined;
  warmBodies.delete(request.sessionId);
  if (warm.header.expiresAt <= clock.now() || hasOverdue(warm.header, clock.now())) return undefined;
  const stored: WarmSession = { header: warm.header, entries: [], warm };
  const goOn = (taken: ReceivedAnswers | undefined): Promise<Turn | undefined> | undefined => {
    if (!taken || taken.incoming.some((one) => endsSession(one) || one.k === OWNER_KEY)) return undefined;
    return runAnswer(sessions, { flow: sessions.flowOf(warm.header), stored, taken });
  };
  const taken = takenOrNot(sessions, stored, request);
  return taken instanceof Promise ? taken.then(goOn) : goOn(taken);
}

function takenOrNot({ context }: SessionHost, stored: WarmSession, request: AnswerRequest) {
  try {
    const taken = receiveAnswers(context, stored, request);
    return taken instanceof Promise ? taken.catch(() => undefined) : taken;
  } catch {
    return undefined; // it would be rejected
  }
}

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Rejects values that are too large, too deep, or have names that reach into prototypes. They do not count as attempts to answer. */
export function rejectHostileValue(value: unknown, sessionId: string, limits: FlowLimits): void {
  const reason = toReason(value, limits);
  if (reason !== undefined) throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId, reason });
}

function toReason(value: unknown, limits: FlowLimits): string | undefined {
  if (typeof value === 'string') return value.length > limits.answerBytes ? tooLarge(limits.answerBytes) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const budget = { left: isFileLike(value) ? Math.ceil(limits.fileBytes * 1.4) : limits.answerBytes };
  const most = budget.left;
  return walk(value, limits.depth, budget) ?? (budget.left < 0 ? tooLarge(most) : undefined);
}

function walk(value: unknown, depth: number, budget: { left: number }): string | undefined {
  budget.left -= typeof value === 'string' ? value.length + 2 : 4;
  if (typeof value !== 'object' || value === null || budget.left < 0) return undefined;
  if (depth === 0) return 'nested too deep';
  for (const [key, inner] of Object.entries(value)) {
    if (FORBIDDEN.has(key)) return `a field must not be called ${key}`;
    budget.left -= key.length;
    const reason = walk(inner, depth - 1, budget);
    if (reason !== undefined || budget.left < 0) return reason;
  }
  return undefined;
}

function isFileLike(value: object): boolean {
  return typeof (value as { data?: unknown }).data === 'string' && 'mimeType' in value;
}

function tooLarge(bytes: number): string {
  return `larger than ${bytes} bytes`;
}
