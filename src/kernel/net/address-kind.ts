// Classifies IP addresses, so that a URL named by a stranger cannot lead into this machine or its network. Every spelling counts
// as the address that it stands for: an IPv4 address within an IPv6 one (mapped, compatible, NAT64, 6to4) is judged as IPv4.
import { BlockList, isIP } from 'node:net';

/** `special`: multicast, documentation, reserved and the like; nothing to connect to. */
type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'special';

type Kind = Exclude<AddressKind, 'public'>;

const V4: [Kind, string[]][] = [
  ['loopback', ['127.0.0.0/8']],
  ['link-local', ['169.254.0.0/16']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10']],
  ['special', ['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24']],
  ['special', ['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3']],
];

const V6: [Kind, string[]][] = [
  ['loopback', ['::1/128']],
  ['link-local', ['fe80::/10']],
  ['private', ['fc00::/7', 'fec0::/10']],
];

const lists = { 4: toLists(V4, 'ipv4'), 6: toLists(V6, 'ipv6') };
/** All public IPv6 addresses of today. */
const GLOBAL_V6 = toList(['2000::/3'], 'ipv6');
const SPECIAL_V6 = toList(['2001::/23', '2001:db8::/32', '3fff::/20'], 'ipv6');

/** Undefined if it is not an IP address. Brackets and a zone are allowed. */
export function addressKind(text: string): AddressKind | undefined {
  const address = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return find(lists[4], address, 'ipv4') ?? 'public';
  const inner = innerV4(toGroups(address));
  if (inner !== undefined) return find(lists[4], inner, 'ipv4') ?? 'public';
  const kind = find(lists[6], address, 'ipv6');
  if (kind) return kind;
  const isGlobal = GLOBAL_V6.check(address, 'ipv6') && !SPECIAL_V6.check(address, 'ipv6');
  return isGlobal ? 'public' : 'special';
}

/** Whether a host name of a URL stands for this machine without a lookup. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname) || addressKind(hostname) === 'loopback';
}

function toLists(kinds: [Kind, string[]][], type: 'ipv4' | 'ipv6') {
  return kinds.map(([kind, ranges]) => ({ kind, list: toList(ranges, type) }));
}

/** From ranges such as `10.0.0.0/8`. */
function toList(ranges: string[], type: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, prefix] = range.split('/') as [string, string];
    list.addSubnet(network, Number(prefix), type);
  }
  return list;
}

function find(among: ReturnType<typeof toLists>, address: string, type: 'ipv4' | 'ipv6'): AddressKind | undefined {
  return among.find(({ list }) => list.check(address, type))?.kind;
}

/** The eight groups of an IPv6 address. */
function toGroups(address: string): number[] {
  // The URL parser writes the last two groups in hexadecimal, however they were spelled.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return read(head);
  const [first, last] = [read(head), read(tail)];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

/** The IPv4 address that an IPv6 address leads to. */
function innerV4(groups: number[]): string | undefined {
  const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const startsWith = (...prefix: number[]): boolean => prefix.every((group, index) => groups[index] === group);
  if (startsWith(0x2002)) return dotted(groups[1], groups[2]); // 6to4
  const isNat64 = startsWith(0x64, 0xff9b, 0, 0, 0, 0) || startsWith(0x64, 0xff9b, 1);
  const isMapped = startsWith(0, 0, 0, 0, 0, 0xffff) || startsWith(0, 0, 0, 0, 0xffff, 0);
  const isCompatible = startsWith(0, 0, 0, 0, 0, 0) && (groups[6] !== 0 || (groups[7] ?? 0) > 1);
  return isNat64 || isMapped || isCompatible ? dotted(groups[6], groups[7]) : undefined;
}
