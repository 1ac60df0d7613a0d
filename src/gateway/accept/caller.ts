// Names the caller that a limit counts: the principal where callers are identified, else the network address. Behind a
// proxy all callers share one address; forwarding headers are not trusted, because anyone can write them.
import { networkOf } from '../../shared/net/network-of.ts';
import type { HttpVisit } from './http/streamable-http.ts';

export function callerOf({ principal, request }: Pick<HttpVisit, 'principal' | 'request'>): string {
  if (principal !== undefined) return `principal:${principal}`;
  return `address:${networkOf(request.socket.remoteAddress ?? '')}`;
}
