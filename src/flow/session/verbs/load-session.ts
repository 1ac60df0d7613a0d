// Loads a session for a request. A session of another owner looks unknown, an expired one is ended first, and one that is being ended looks
// ended.
import { toClientHeader, isEnded, hasOverdue } from '../../header.ts';
import type { StoredSession } from '../../store/store.ts';
import type { Header } from '../../journal.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { openSealedArgs } from '../values/sealed-args.ts';
import type { SessionContext } from '../session-context.ts';

type Attend = (sessionId: string) => Promise<void>;

export interface LoadRequest {
  sessionId: string;
  mayHave: (stored: StoredSession) => boolean;
}

export async function loadSession(
  context: SessionContext,
  request: LoadRequest,
  attend: Attend,
): Promise<StoredSession> {
  const { sessionId, mayHave } = request;
  const stored = await context.store.load(sessionId);
  if (!stored || !mayHave(stored)) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
  const whole = openSealedArgs(context, stored);
  const header = toClientHeader(whole.header);
  if (isOverdue(header, context.clock.now())) {
    await attend(sessionId);
    return loadSession(context, request, attend);
  }
  if (header.reason === 'expired') throw new GatewayError('FLOW_SESSION_EXPIRED', { sessionId });
  return header === whole.header ? whole : { ...whole, header };
}

/** The session, or a question of it, has timed out and must be handled first. */
function isOverdue(header: Header, now: number): boolean {
  if (isEnded(header)) return false;
  return header.expiresAt <= now || (!header.parked && hasOverdue(header, now));
}
