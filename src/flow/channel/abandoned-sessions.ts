// Finds sessions whose client went away before its call was answered, by a lost connection or a crash. An open session is in the list of
// its owner. For an ended one, a stored note has the last session of each owner and tool.
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from '../../protocol/exchange.ts';
import { earlyEndOf, isEnded, toOwner, peopleOf } from '../header.ts';
import type { Header } from '../journal.ts';
import { GatewayError } from '../../shared/errors.ts';
import { pause } from '../../shared/timing.ts';
import type { SessionRequest } from '../session/verbs/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { toStartFingerprint } from '../session/session-id.ts';
import type { Turn } from '../session/turn/turn.ts';
import type { StateView } from '../session/view.ts';
import { waitForTurn } from '../session/verbs/session-watch.ts';
import type { FlowStore } from '../store/store.ts';
import type { CallReceipts, CallStart } from './call-receipts.ts';

/** How often to poll a working session, which may run in another process. */
const LOOK_MS = 250;

export interface ResumeContext {
  sessions: Sessions;
  /** Waiting calls in this process, by session id. */
  waiting: ReadonlyMap<string, Pick<Exchange, 'isConnected'>>;
  receipts: Pick<CallReceipts, 'isForAnother'>;
}

/** The client of the session is connected. After a lost connection, both the client and its user on another connection may continue. */
function hasWaitingCall({ waiting }: ResumeContext, sessionId: string): boolean {
  const call = waiting.get(sessionId);
  return call !== undefined && call.isConnected !== false;
}

/** The newest abandoned session whose input does not differ from the new arguments. */
export async function findAbandoned(start: CallStart, context: ResumeContext): Promise<StateView | undefined> {
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
export function isSessionWorking(header: Header): boolean {
  const ending = earlyEndOf(header);
  if (ending) return ending.kind === 'fail' && ending.tries === undefined;
  return header.state === 'processing' || header.state === 'active'; // `active`: nothing was asked yet
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

/** Reserves the id of a new session, so that its caller can come back for it. */
export async function reserveSessionId(sessions: Sessions, start: CallStart): Promise<string> {
  const id = sessions.context.newId();
  await rememberSession(sessions, start, id);
  return id;
}

/** Writes the note before the session is stored, so that a caller who comes back after a crash finds the session or nothing. */
export function rememberSession({ context }: Sessions, start: CallStart, id: string): Promise<void> {
  const { store, limits } = context;
  return store.putBlob(toNoteKey(start, store), Buffer.from(id), limits.maxTimeoutMs + limits.tombstoneMs);
}

/** Callers whom a gateway recognizes have their own notes. */
function toNoteKey({ principal, tool, receipt }: CallStart, { salt }: FlowStore): string {
  const caller = receipt && receipt.holder === undefined ? `\0${receipt.caller}` : '';
  return hash('sha256', `mcp-parley/last-call\0${toOwner(principal, salt)}\0${tool}${caller}`, 'base64url');
}

/** An expired session stays in the list until it is loaded. */
function ignoreEnded(thrown: unknown): undefined {
  if (!(thrown instanceof GatewayError) || !thrown.code.startsWith('FLOW_SESSION_')) throw thrown;
}
