import { describe, expect, it } from 'vitest';
import { createFindAddress } from './client-address.ts';
import type { TrustProxy } from './client-address.ts';

function found(
  trusted: TrustProxy,
  peer: string | undefined,
  headers: Record<string, string> = {},
): string | undefined {
  const find = createFindAddress(trusted) ?? (({ socket }) => socket.remoteAddress);
  return find({ headers, socket: { remoteAddress: peer } });
}

const via = (list: string) => ({ 'x-forwarded-for': list });

describe('the address of a client', () => {
  it.each<[TrustProxy, string, Record<string, string>, string]>([
    [false, '127.0.0.1', via('6.6.6.6'), '127.0.0.1'],
    [[], '127.0.0.1', via('6.6.6.6'), '127.0.0.1'],
    ['loopback', '9.9.9.9', via('6.6.6.6'), '9.9.9.9'],
    ['loopback', '9.9.9.9', { forwarded: 'for=6.6.6.6' }, '9.9.9.9'],
    [['10.0.0.0/8'], '127.0.0.1', via('6.6.6.6'), '127.0.0.1'],
    [['10.0.0.0/8'], '11.0.0.1', via('6.6.6.6'), '11.0.0.1'],
  ])('is that of the peer with trust %j in %s', (trusted, peer, headers, address) => {
    expect(found(trusted, peer, headers)).toBe(address);
  });

  it.each<[TrustProxy, string, Record<string, string>, string]>([
    [true, '9.9.9.9', via('6.6.6.6'), '6.6.6.6'],
    ['loopback', '127.0.0.1', via('6.6.6.6'), '6.6.6.6'],
    ['loopback', '::1', via('6.6.6.6'), '6.6.6.6'],
    ['loopback', '::ffff:127.0.0.1', via('6.6.6.6'), '6.6.6.6'],
    [['10.0.0.0/8'], '::ffff:10.1.2.3', via('6.6.6.6'), '6.6.6.6'],
    [['2001:db8::/32'], '2001:db8::5', via('6.6.6.6'), '6.6.6.6'],
    ['loopback', '127.0.0.1', via('6.6.6.6:1234'), '6.6.6.6'],
    ['loopback', '127.0.0.1', via('[2001:db8::7]:1234'), '2001:db8::7'],
    ['loopback', '127.0.0.1', via('2001:db8::7'), '2001:db8::7'],
    ['loopback', '127.0.0.1', { forwarded: 'for=6.6.6.6;proto=https' }, '6.6.6.6'],
    ['loopback', '127.0.0.1', { forwarded: 'proto=https; For="[2001:db8::7]:99"' }, '2001:db8::7'],
  ])('is the forwarded one with trust %j in %s', (trusted, peer, headers, address) => {
    expect(found(trusted, peer, headers)).toBe(address);
  });

  it('is what the trusted proxies saw, and never what a client wrote before them', () => {
    expect(found('loopback', '127.0.0.1', via('1.1.1.1, 6.6.6.6'))).toBe('6.6.6.6');
    expect(found(['127.0.0.1', '10.0.0.0/8'], '127.0.0.1', via('1.1.1.1, 6.6.6.6, 10.0.0.9'))).toBe('6.6.6.6');
    expect(found('loopback', '127.0.0.1', { forwarded: 'for=1.1.1.1, for=6.6.6.6' })).toBe('6.6.6.6');
    expect(found('loopback', '127.0.0.1', { ...via('6.6.6.6'), forwarded: 'for=1.1.1.1' })).toBe('6.6.6.6');
    expect(found(true, '9.9.9.9', via('1.1.1.1, 6.6.6.6'))).toBe('1.1.1.1');
  });

  it('is that of the last believable hop if a header is nonsense', () => {
    for (const list of ['', ' ', 'unknown', '_hidden', 'x'.repeat(10_000), '1.1.1.1, evil', '6.6.6.6,', '999.1.1.1'])
      expect(found('loopback', '127.0.0.1', via(list))).toBe('127.0.0.1');
    expect(found('loopback', '127.0.0.1', { forwarded: 'for=unknown' })).toBe('127.0.0.1');
    expect(found('loopback', '127.0.0.1', { forwarded: 'by=6.6.6.6' })).toBe('127.0.0.1');
    expect(found(['127.0.0.1', '10.0.0.0/8'], '127.0.0.1', via('evil, 10.0.0.9'))).toBe('10.0.0.9');
    expect(found('loopback', undefined, via('6.6.6.6'))).toBeUndefined();
  });

  it('refuses to trust what is not a network', () => {
    for (const network of ['proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', ''])
      expect(() => createFindAddress([network])).toThrow('trustProxy');
  });
});
