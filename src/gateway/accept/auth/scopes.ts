// What the scopes of a key or token allow.
import type { Identity } from '../../../protocol/exchange.ts';

/** Reading counters and states of servers is never implied. */
export function isAdmin({ scopes }: Identity, adminScope: string): boolean {
  return scopes?.includes(adminScope) ?? false;
}

/**
 * The scopes in the claims of a token: `scope` with spaces between them (RFC 8693), or `scp` as text or list. An entry of a list with
 * a space inside does not count, so that no scope hides in another.
 */
export function scopesOf({ scope, scp }: { [claim: string]: unknown }): readonly string[] {
  if (scope !== undefined) return typeof scope === 'string' ? split(scope) : [];
  if (typeof scp === 'string') return split(scp);
  return Array.isArray(scp) ? scp.filter((one): one is string => typeof one === 'string' && SCOPE.test(one)) : [];
}

/** RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function split(text: string): string[] {
  return text.split(' ').filter((one) => SCOPE.test(one));
}
