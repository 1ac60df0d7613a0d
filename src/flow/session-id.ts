// Ids of sessions: a short form for lists and logs, and those that follow from a start id.
import { hash } from 'node:crypto';
import { canonicalJson } from '../kernel/base/canonical-json.ts';
import { toOwner } from './header.ts';

export const SESSION_PREFIX = 'session_';
const SHORT = 8;

/** A reader of the full id could answer for its user. Never begins with a hyphen, which a shell command would take for an option. */
export function toShortId(id: string): string {
  const rest = id.startsWith(SESSION_PREFIX) ? id.slice(SESSION_PREFIX.length) : id;
  return rest.startsWith('-') ? `${SESSION_PREFIX}${rest.slice(0, SHORT)}` : rest.slice(0, SHORT);
}

/**
 * The id of the session of a start id, which a client chooses so that it can repeat a start whose reply was lost. It is valid for one principal,
 * and cannot be guessed without the start id.
 */
export function toStartedSessionId(principal: string, startId: string): string {
  const digest = hash('sha256', `mcp-parley/start\0${toOwner(principal)}\0${startId}`, 'base64url');
  return `${SESSION_PREFIX}${digest.slice(0, 22)}`;
}

/** A fingerprint of tool and arguments. */
export function toStartFingerprint(tool: string, args: Record<string, unknown> = {}): string {
  return hash('sha256', canonicalJson([tool, args]), 'base64url').slice(0, 22);
}
