// The principal of an unidentified caller: its connection. What it owns ends with the connection, and no one else can
// access it.
import { randomId } from './crypto/ids.ts';

const PREFIX = 'anonymous:';
/** The owner of what unidentified stateless callers have. */
export const LOCAL = 'local';

export function anonymousPrincipal(kind: string, id: string = randomId()): string {
  return `${PREFIX}${kind}:${id}`;
}

export function isAnonymous(principal: string): boolean {
  return principal.startsWith(PREFIX);
}
