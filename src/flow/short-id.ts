// Short session ids for lists and logs. A reader of the full id could answer for its user.
export const SESSION_PREFIX = 'session_';
const SHORT = 8;

/** Never begins with a hyphen, which a shell command would take for an option. */
export function toShortId(id: string): string {
  const rest = id.startsWith(SESSION_PREFIX) ? id.slice(SESSION_PREFIX.length) : id;
  return rest.startsWith('-') ? `${SESSION_PREFIX}${rest.slice(0, SHORT)}` : rest.slice(0, SHORT);
}
