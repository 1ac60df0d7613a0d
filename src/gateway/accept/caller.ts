// Who takes up room: the principal, where callers are identified, else the network address they come from. Behind a proxy all
// come from one address; headers that tell another are not believed, since anybody can write them.
import type { HttpVisit } from './http/streamable-http.ts';

export function callerOf({ principal, request }: Pick<HttpVisit, 'principal' | 'request'>): string {
  if (principal !== undefined) return `principal:${principal}`;
  return `address:${networkOf(request.socket.remoteAddress ?? '')}`;
}

/** An IPv6 host has a whole /64 to come from. */
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
