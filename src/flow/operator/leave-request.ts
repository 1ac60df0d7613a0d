// Requests that an operator leaves in the store, without the code of the flow: answer, cancel, retry. The process that serves the flow has
// the code, the keys and the client, and carries them out within seconds.
// 1. Each request is one commit that fails if the session has changed, so it never breaks a turn of a live process.
// 2. Secrets and files are never left in a store.
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { earlyEndOf, isEnded, conditionOf } from '../header.ts';
import type { OperatorRequest, Header } from '../journal.ts';
import { checkAnswer } from '../question/check-answer.ts';
import type { Question } from '../question/question.ts';
import { requestEnd } from '../session/verbs/end-session.ts';
import type { SessionChange, ListedSession, SessionStore, StoredSession } from '../store/store.ts';

export interface OperatorContext {
  store: SessionStore;
  clock: Clock;
}

/** Comes before everything else that is due. */
const AT_ONCE = 0;
const MAX_TRIES = 20;

export async function leaveAnswers(
  outside: OperatorContext,
  sessionId: string,
  handed: OperatorRequest,
): Promise<Header> {
  return changed(outside, sessionId, 'answered', ({ header }) => {
    if (header.state !== 'waiting_user') throw impossible(header, 'answered', notWaiting(header));
    for (const { promptId, value } of handed.answers) checkHanded(header, promptId, value);
    return { patch: { handed }, dueAt: AT_ONCE };
  });
}

/** The process that serves the session ends it and undoes its effects. */
export async function leaveCancel(outside: OperatorContext, sessionId: string, reason: string): Promise<Header> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = await found(outside, sessionId);
    const { header } = stored;
    if (isEnded(header)) throw impossible(header, 'cancelled', 'it has ended');
    if (earlyEndOf(header)) throw impossible(header, 'cancelled', 'it is being ended already; `retry` tries at once');
    const turn = await requestEnd(outside, { stored, ending: { kind: 'cancel', reason } });
    if (turn) return turn.header;
  }
  throw tooBusy(sessionId);
}

/** Retries a session that is parked, is being ended, or was left by a dead process. */
export async function leaveRetry(outside: OperatorContext, sessionId: string, by: string): Promise<Header> {
  return changed(outside, sessionId, 'tried again', async ({ header }) => {
    const condition = conditionOf(header);
    if (isEnded(header)) throw impossible(header, 'tried again', whyOver(header));
    if (condition === 'waiting')
      throw impossible(header, 'tried again', 'it waits for an answer, and nothing is wrong with it');
    await refuseHeld(outside, header);
    // Answers that an operator left before it was parked are tried again.
    if (header.state === 'waiting_user')
      return { patch: { handed: header.handed ?? { answers: [], by } }, dueAt: AT_ONCE };
    const ending = earlyEndOf(header);
    if (!ending) return { patch: {}, dueAt: AT_ONCE };
    // A session whose undo failed gets the full time again; one that waits for a version keeps its deadline.
    const parked = header.notUndone ? undefined : ending.parked;
    return { patch: { pending: { ...ending, tries: 0, parked } }, dueAt: AT_ONCE };
  });
}

/** Header, due time and lease of one session. */
export async function findListed(
  { store }: { store: Pick<SessionStore, 'browse'> },
  sessionId: string,
): Promise<ListedSession | undefined> {
  for await (const page of store.browse?.(sessionId) ?? []) for (const one of page) return one;
  return undefined;
}

/** Until when a process holds the session; undefined if none does. */
export function heldUntil(
  { heldUntil: until = 0 }: ListedSession,
  { clock }: Pick<OperatorContext, 'clock'>,
): number | undefined {
  return until > clock.now() ? until : undefined;
}

async function changed(
  outside: OperatorContext,
  sessionId: string,
  what: string,
  toChange: (stored: StoredSession) => SessionChange | Promise<SessionChange>,
): Promise<Header> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = await found(outside, sessionId);
    if (isEnded(stored.header) && what === 'answered') throw impossible(stored.header, what, 'it has ended');
    const change = await toChange(stored);
    const done = await outside.store.commit(sessionId, stored.header.rev, change);
    if (done.ok) return { ...stored.header, ...change.patch, rev: done.rev };
  }
  throw tooBusy(sessionId);
}

async function found({ store }: OperatorContext, sessionId: string): Promise<StoredSession> {
  const stored = await store.load(sessionId);
  if (!stored) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
  return stored;
}

function checkHanded(header: Header, promptId: string, value: unknown): void {
  const question = (header.current as Question[]).find((one) => one.promptId === promptId);
  if (!question) throw impossible(header, 'answered', `the question ${promptId} is no longer open`);
  if (question.secret || question.kind === 'file') {
    const what = question.secret ? 'a secret' : 'a file';
    throw impossible(header, 'answered', `${question.key} asks for ${what}, which only its user can give`);
  }
  const checked = checkAnswer(value, question);
  if (!('complaint' in checked)) return;
  const { error, suggestion } = checked.complaint;
  const reason = `${question.key}: ${error}${suggestion === undefined ? '' : ` (${suggestion})`}`;
  throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId: header.id, reason });
}

async function refuseHeld(outside: OperatorContext, header: Header): Promise<void> {
  const listed = await findListed(outside, header.id);
  const until = listed && heldUntil(listed, outside);
  if (until === undefined) return;
  const seconds = Math.ceil((until - outside.clock.now()) / 1000);
  throw impossible(header, 'tried again', `a process is running it, and holds it for at least ${seconds} s`);
}

function notWaiting(header: Header): string {
  const condition = conditionOf(header);
  return condition === 'working' ? 'it is working, and asks nothing now' : `it is ${condition}`;
}

function whyOver({ notUndone }: Header): string {
  if (!notUndone?.length) return 'it has ended';
  return `it has ended and its journal is gone; undo ${notUndone.join(', ')} by hand`;
}

function impossible({ id }: Header, what: string, reason: string): GatewayError {
  return new GatewayError('FLOW_NOT_POSSIBLE', { sessionId: id, what, reason });
}

function tooBusy(sessionId: string): GatewayError {
  return new GatewayError('FLOW_LIMIT', {
    sessionId,
    what: 'too many at once',
    limit: 'respondsPerSecond',
    retryAfterMs: 100,
  });
}
