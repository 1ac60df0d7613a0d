// Offers to resume a session whose client went away before its call was answered, by a lost connection or a crash, or to show its outcome.
// An open session is in the list of its owner; for an ended one, a stored note has the last session of each owner and tool. Offers only
// sessions of the same caller, and none whose call still waits in this process. If it waits in another process, both may answer; each
// answer counts once.
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Exchange, Ask } from '../../kernel/exchange.ts';
import { ELICIT_INPUT } from '../../kernel/methods.ts';
import { isAnonymous } from '../../kernel/base/anonymous.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { pause } from '../../kernel/base/timing.ts';
import { toDurationMs } from '../define.ts';
import { earlyEndOf, isEnded, toOwner, peopleOf } from '../header.ts';
import type { Header } from '../journal.ts';
import type { Question } from '../question/question.ts';
import { toTombstoneMs } from '../session/context/flow-limits.ts';
import { toStartFingerprint } from '../session-id.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { SessionRequest } from '../session/context/requests.ts';
import { waitForTurn } from '../session/verbs/session-watch.ts';
import type { StateView } from '../session/verbs/view.ts';
import type { SessionStore } from '../store/store.ts';
import type { CallReceipts, CallStart } from './call-receipts.ts';
import { answerContent } from './client-form.ts';
import { askAlive, describeWaiting } from './report-progress.ts';

/** How often to poll a working session, which may run in another process. */
const LOOK_MS = 250;
const FIELD = 'resume';

interface ResumeContext {
  sessions: Sessions;
  /** Waiting calls in this process, by session id. */
  waiting: ReadonlyMap<string, Pick<Exchange, 'isConnected'>>;
  receipts: Pick<CallReceipts, 'isForAnother'>;
}

/** Returns the session to resume, or undefined to start a new one. Throws ResumeDeclinedError. */
export async function offerResume(
  exchange: Exchange,
  start: CallStart,
  context: ResumeContext,
): Promise<Turn | undefined> {
  const { principal } = start;
  if (isAnonymous(principal)) return undefined; // an anonymous caller cannot be recognized
  const left = await findAbandoned(start, context);
  if (!left) return undefined;
  const ask = toOffer(left);
  if (!exchange.canAsk(ask)) return undefined;
  const answer = await askAlive(exchange, ask, context.sessions.context);
  if (answer.action !== 'accept') throw new ResumeDeclinedError(start.tool);
  const session = { principal, sessionId: left.header.id };
  if (answerContent(answer)[FIELD] === true) return awaitRest(context.sessions, session, exchange.signal);
  if (isEnded(left.header)) await context.sessions.acknowledge(session.sessionId);
  else await context.sessions.cancel({ ...session, reason: 'It was started over' }).catch(() => {});
  return undefined;
}

/** The user wants neither: the call ends and the session stays. */
export class ResumeDeclinedError extends Error {
  constructor(tool: string) {
    super(`${tool} was not started; the earlier session stays open. Call ${tool} again to continue it.`);
  }
}

/** The newest abandoned session whose input does not differ from the new arguments. */
async function findAbandoned(start: CallStart, context: ResumeContext): Promise<StateView | undefined> {
  const { principal, share, tool, args = {} } = start;
  const { sessions } = context;
  const all = await sessions.list(principal, share);
  const open = all.filter((header) => header.tool === tool && !hasWaitingCall(context, header.id));
  const newest = open.filter(isWorthwhile).toSorted((one, other) => other.lastActivityAt - one.lastActivityAt)[0];
  if (!newest) return findEnded(start, context);
  const view = await sessions.getState({ principal, sessionId: newest.id }).catch(ignoreEnded);
  if (!view) return undefined;
  const isSame = Object.entries(args).every(([name, value]) => isDeepStrictEqual(view.data[name], value));
  return isSame && (isSessionWorking(view.header) || view.questions.length > 0 || isForPeople(view.header))
    ? view
    : undefined;
}

/** The client of the session is connected. After a lost connection, both the client and its user on another connection may continue. */
function hasWaitingCall({ waiting }: ResumeContext, sessionId: string): boolean {
  const call = waiting.get(sessionId);
  return call !== undefined && call.isConnected !== false;
}

/** A session without answers is not worth resuming. */
function isWorthwhile(header: Header): boolean {
  const { state, via, rounds, parked } = header;
  if ((via !== 'elicit' && via !== 'mrtr') || parked) return false;
  return state === 'waiting_user' ? rounds > 1 || isForPeople(header) : isSessionWorking(header);
}

/** Another person is asked, who would otherwise be asked twice. */
function isForPeople(header: Header): boolean {
  return peopleOf(header).length > 0;
}

/** A step runs, or effects are being undone for the first time. Later tries to undo happen in the background. */
function isSessionWorking(header: Header): boolean {
  const ending = earlyEndOf(header);
  if (ending) return ending.kind === 'fail' && ending.tries === undefined;
  return header.state === 'processing' || header.state === 'active'; // `active`: nothing was asked yet
}

async function findEnded(start: CallStart, context: ResumeContext): Promise<StateView | undefined> {
  const { principal, tool, args, receipt } = start;
  const { sessions } = context;
  const bytes = await sessions.context.store.getBlob(toNoteKey(start, sessions.context.store));
  const sessionId = bytes && Buffer.from(bytes).toString();
  if (sessionId === undefined || hasWaitingCall(context, sessionId)) return undefined;
  if (context.receipts.isForAnother(sessionId, receipt)) return undefined;
  const view = await sessions.getState({ principal, sessionId }).catch(ignoreEnded);
  const isSame = view !== undefined && isEnded(view.header) && view.header.started === toStartFingerprint(tool, args);
  return isSame && view.outcome ? view : undefined;
}

/** An expired session stays in the list until it is loaded. */
function ignoreEnded(thrown: unknown): undefined {
  if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_SESSION_')) throw thrown;
}

function toOffer(left: StateView): Ask {
  const { message, title, otherwise } = wordsFor(left);
  const field = { type: 'boolean', title, description: `No: start over${otherwise}.` };
  const requestedSchema = { type: 'object', properties: { [FIELD]: field }, required: [FIELD] };
  return {
    method: ELICIT_INPUT,
    params: { mode: 'form', message, requestedSchema },
    key: randomId('resume_'),
    askedFirst: true,
  };
}

function wordsFor({ header, answered, questions }: StateView): { message: string; title: string; otherwise: string } {
  if (isEnded(header) && !isSessionWorking(header)) {
    // The process may have died after the answer to the call and before recording it.
    const message = 'You started this before, and it has ended since. You may already have seen how.';
    return { message, title: 'Show how it ended', otherwise: ', and do all of it once more' };
  }
  const count = answered === 1 ? 'one question' : `${answered} questions`;
  const message = `You started this before${answered === 0 ? '' : ` and answered ${count}`}. ${toNext(header, questions)}`;
  if (earlyEndOf(header)) return { message, title: 'Wait for that, and show why it failed', otherwise: ' meanwhile' };
  return { message, title: 'Continue from there', otherwise: ', and forget what was answered' };
}

function toNext(header: Header, [question]: Question[]): string {
  if (earlyEndOf(header)) return 'It has failed, and its effects are being undone.';
  if (isSessionWorking(header)) return 'It is still running.';
  return question ? `The next question is: ${question.prompt.message}` : `${describeWaiting(peopleOf(header))}.`;
}

/** Waits until the session asks its user something, or has ended. */
export async function awaitRest(sessions: Sessions, session: SessionRequest, signal: AbortSignal): Promise<Turn> {
  for (;;) {
    const view = await sessions.getState(session);
    const { header, questions, outcome } = view;
    if (!isSessionWorking(header) || header.parked || signal.aborted) {
      const isWaiting = questions.length === 0 && isForPeople(header);
      return { header, questions, ...outcome, ...(isWaiting && { later: () => waitForTurn(sessions, header) }) };
    }
    await pause(sessions.context.clock, LOOK_MS);
  }
}

/** Reserves the id of a new session, so that its caller can come back for it. */
export async function reserveSessionId(sessions: Sessions, start: CallStart): Promise<string> {
  const id = sessions.context.newId();
  await rememberSession(sessions, start, id);
  return id;
}

/** Writes the note before the session is stored, so that a caller who comes back after a crash finds the session or nothing. */
export function rememberSession({ context, flows }: Sessions, start: CallStart, id: string): Promise<void> {
  const { store, limits } = context;
  const flow = flows.get(start.tool);
  const lastsMs = Math.max(limits.maxTimeoutMs, flow ? toDurationMs(flow, limits) : 0);
  const keptMs = lastsMs + toTombstoneMs(limits, { createdAt: 0, deadline: lastsMs });
  return store.putBlob(toNoteKey(start, store), Buffer.from(id), keptMs);
}

/** Callers whom a gateway recognizes have their own notes. */
function toNoteKey({ principal, tool, receipt }: CallStart, { salt }: SessionStore): string {
  const caller = receipt && receipt.holder === undefined ? `\0${receipt.caller}` : '';
  return hash('sha256', `mcp-parley/last-call\0${toOwner(principal, salt)}\0${tool}${caller}`, 'base64url');
}
