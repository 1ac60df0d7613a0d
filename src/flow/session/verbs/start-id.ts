// Start ids, which a client chooses so that it can repeat a start whose reply was lost. An id is valid for one principal.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../../shared/canonical-json.ts';
import { toOwner } from '../session-context.ts';

/** The session id. It cannot be guessed without the start id. */
export function toStartedSessionId(principal: string, startId: string): string {
  return `session_${hash('sha256', `mcp-parley/start\0${toOwner(principal)}\0${startId}`, 'base64url').slice(0, 22)}`;
}

/** A fingerprint of tool and arguments. */
export function toStartFingerprint(tool: string, args: Record<string, unknown> = {}): string {
  return hash('sha256', canonicalJson([tool, args]), 'base64url').slice(0, 22);
}
