// An id that a client makes for starting a session: a start that is sent again, because nobody heard what became of it, is the same session.
// It belongs to its principal: the same id of somebody else is another one.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { toOwner } from '../session-context.ts';

/** The id of the session, which nobody can guess who does not know the client's id. */
export function toStartedSessionId(principal: string, startId: string): string {
  return `session_${hash('sha256', `mcp-parley/start\0${toOwner(principal)}\0${startId}`, 'base64url').slice(0, 22)}`;
}

/** Fingerprint of what was started. */
export function toStartFingerprint(tool: string, args: Record<string, unknown> = {}): string {
  return hash('sha256', canonicalJson([tool, args]), 'base64url').slice(0, 22);
}
