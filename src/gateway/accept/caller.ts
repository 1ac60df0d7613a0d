// Names the caller that a limit counts: the principal where callers are identified, else the network address. Behind a
// proxy that is not in `trustProxy` all callers share one address.
import { addressOf } from '../../shared/http.ts';
import { networkOf } from '../../shared/net/network-of.ts';
import type { HttpVisit } from './http/streamable-http.ts';

export function callerOf({ principal, request }: Pick<HttpVisit, 'principal' | 'request'>): string {
  if (principal !== undefined) return `principal:${principal}`;
  return `address:${networkOf(addressOf(request) ?? '')}`;
}
