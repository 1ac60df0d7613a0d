import { describe, expect, it } from 'vitest';
import { callerOf } from './identify.ts';
import type { HttpVisit } from './http/http-visit.ts';

function from(remoteAddress: string | undefined, principal?: string): string {
  return callerOf({ principal, request: { socket: { remoteAddress } } as HttpVisit['request'] });
}

describe('a caller', () => {
  it('is its principal, from any address', () => {
    expect(from('10.0.0.1', 'alice')).toBe(from('10.0.0.2', 'alice'));
    expect(from('10.0.0.1', 'alice')).not.toBe(from('10.0.0.1', 'bob'));
    expect(from('10.0.0.1', '10.0.0.1')).not.toBe(from('10.0.0.1'));
  });

  it('is its address without a principal', () => {
    expect(from('10.0.0.1')).not.toBe(from('10.0.0.2'));
    expect(from('::ffff:10.0.0.1')).toBe(from('10.0.0.1'));
    expect(from(undefined)).toBe(from(undefined));
  });

  it('is a /64 network with IPv6', () => {
    expect(from('2001:db8:1:2::1')).toBe(from('2001:db8:1:2:a:b:c:d'));
    expect(from('2001:db8:1:2::1')).not.toBe(from('2001:db8:1:3::1'));
    expect(from('2001:db8::1')).toBe(from('2001:db8::2'));
    expect(from('2001:db8::1:2:3:4:5')).toBe(from('2001:db8:0:1::9'));
    expect(from('::1')).not.toBe(from('2001::1'));
  });
});
