// Names the caller that a limit counts: the principal where callers are identified, else the network address. Behind a
// proxy all callers share one address; forwarding headers are not trusted, because anyone can write them.
import type { HttpVisit } from './http/streamable-http.ts';

export function callerOf({ principal, request }: Pick<HttpVisit, 'principal' | 'request'>): string {
  if (principal !== undefined) return `principal:${principal}`;
  return `address:${networkOf(request.socket.remoteAddress ?? '')}`;
}

/** An IPv6 host can use a whole /64. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  const [head = '', tail] = address.split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':');
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}
