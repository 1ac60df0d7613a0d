// A session as people see it: in lists and in the log, where its whole id would let a reader answer for its user.
export const SESSION_PREFIX = 'session_';
const SHORT = 8;

/** It can be typed: what begins with a hyphen would be taken for an option. */
export function toShortId(id: string): string {
  const rest = id.startsWith(SESSION_PREFIX) ? id.slice(SESSION_PREFIX.length) : id;
  return rest.startsWith('-') ? `${SESSION_PREFIX}${rest.slice(0, SHORT)}` : rest.slice(0, SHORT);
}
