// The network address of a client. It is the peer's, unless the peer is a proxy that the operator trusts: then it is the last address in
// X-Forwarded-For or Forwarded that no trusted proxy has. What others write into these headers counts for nothing.
import { BlockList, isIP } from 'node:net';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpRequest } from '../../../kernel/base/http.ts';

/** `true`: every peer is a trusted proxy. `loopback`: those on this machine. Else addresses and networks, such as `10.0.0.0/8`. */
export type TrustProxy = boolean | 'loopback' | readonly string[];

/** The address of the client of this request; undefined if the peer has none. */
type FindAddress = (request: Pick<HttpRequest, 'headers' | 'socket'>) => string | undefined;

const LOOPBACK = ['127.0.0.0/8', '::1'];
/** More hops than any deployment has; the rest is not looked at. */
const MAX_HOPS = 32;

/** Undefined if no proxy is trusted. Throws BAD_OPTION. */
export function createFindAddress(trusted: TrustProxy | undefined): FindAddress | undefined {
  if (trusted === undefined || trusted === false || (Array.isArray(trusted) && trusted.length === 0)) return undefined;
  const isTrusted = trusted === true ? () => true : toCheck(trusted === 'loopback' ? LOOPBACK : trusted);
  return ({ headers, socket }) => {
    let address = socket.remoteAddress;
    if (address === undefined || !isTrusted(address)) return address;
    for (const hop of hopsOf(headers)) {
      const next = readAddress(hop);
      if (next === undefined) return address; // what stands before it cannot be believed either
      address = next;
      if (!isTrusted(address)) return address;
    }
    return address;
  };
}

/** Whether this text names an address or a network. */
export function isNetwork(text: string): boolean {
  return toSubnet(text) !== undefined;
}

/** The nearest hop first. `X-Forwarded-For` wins: proxies that write one of the two headers often leave the other one to their clients. */
function hopsOf(headers: HttpRequest['headers']): string[] {
  const { forwarded } = headers;
  const listed = String(headers['x-forwarded-for'] ?? '');
  if (listed.trim() !== '') return listed.split(',').slice(-MAX_HOPS).toReversed();
  if (forwarded === undefined) return [];
  const hops = forwarded.split(',').slice(-MAX_HOPS).toReversed();
  return hops.map((hop) => /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]*)/i.exec(hop)?.[1]?.replaceAll('"', '') ?? '');
}

/** `1.2.3.4`, `1.2.3.4:567`, `[2001:db8::1]:567` or `2001:db8::1`; undefined for anything else, such as `unknown`. */
function readAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  return isIP(bare) > 0 ? bare : undefined;
}

function toCheck(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const subnet = toSubnet(network);
    if (!subnet)
      throw new GatewayError('BAD_OPTION', { option: 'trustProxy', reason: `${network} is not an address or network` });
    list.addSubnet(...subnet);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '');
    const version = isIP(plain);
    return version > 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  };
}

function toSubnet(text: string): [network: string, prefix: number, type: 'ipv4' | 'ipv6'] | undefined {
  const [network = '', prefix, more] = text.split('/');
  const version = isIP(network);
  const bits = version === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (version === 0 || more !== undefined || !(length <= bits)) return undefined;
  return [network, length, version === 4 ? 'ipv4' : 'ipv6'];
}
