// The principal of an unidentified caller: its connection. What it owns ends with the connection, and no one else can
// access it.
import { randomId } from '../crypto/ids.ts';
import { sha256 } from '../crypto/lazy-crypto.ts';

const PREFIX = 'anonymous:';
/** The owner of what unidentified stateless callers have. */
export const LOCAL = 'local';

export function anonymousPrincipal(kind: string, id: string = randomId()): string {
  return `${PREFIX}${kind}:${id}`;
}

export function isAnonymous(principal: string): boolean {
  return principal.startsWith(PREFIX);
}

/** Most lines are about the same caller as the line before. */
let last = { principal: '', logged: '' };

/** For logs. The principal of an anonymous session may be the id that the client sends, so it is hashed. */
export function loggedPrincipal(principal: string): string {
  if (!isAnonymous(principal)) return principal;
  if (last.principal === principal) return last.logged;
  const end = principal.lastIndexOf(':') + 1;
  const hash = sha256(principal, 'base64url');
  const logged = `${principal.slice(0, end)}#${hash.slice(0, 12)}`;
  last = { principal, logged };
  return logged;
}
