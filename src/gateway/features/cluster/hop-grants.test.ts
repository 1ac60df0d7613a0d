import { describe, expect, it } from 'vitest';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { FakeClock } from '../../../kernel/fake-exchange.contract.ts';
import { HopGrants } from './hop-grants.ts';

const KEYS = ['the key of these tests'];
const REQUEST = { method: 'POST', path: '/mcp?x=1' };

function between(clockAhead = 0) {
  const clock = new FakeClock();
  const [here, there] = ['here', 'there'].map((self) => new HopGrants(createSealer(KEYS), clock, self));
  const seal = (more: object = {}) => here!.seal(REQUEST, { to: 'there', clockAhead, ...more });
  return { clock, here: here!, there: there!, seal };
}

describe('a grant for a forwarded request', () => {
  it('says who calls, without what only a process can hold', () => {
    const { there, seal } = between();
    const identity = { principal: 'ann', scopes: ['read'], validity: { watch: () => () => {} } };
    const granted = seal({ principal: 'ann', identity, resource: 'https://mcp.example.com/mcp', address: '192.0.2.1' });
    expect(there.open(REQUEST, granted)).toEqual({
      principal: 'ann',
      identity: { principal: 'ann', scopes: ['read'] },
      resource: 'https://mcp.example.com/mcp',
      address: '192.0.2.1',
    });
  });

  it('opens once, and not for another node, method or path', () => {
    const { here, there, seal } = between();
    const granted = seal();
    expect(there.open({ ...REQUEST, method: 'GET' }, granted)).toBeUndefined();
    expect(there.open({ ...REQUEST, path: '/mcp?x=2' }, granted)).toBeUndefined();
    expect(here.open(REQUEST, granted)).toBeUndefined();
    expect(there.open(REQUEST, granted)).toBeDefined();
    expect(there.open(REQUEST, granted)).toBeUndefined();
  });

  it('is worth nothing after ten seconds, and can never be used again however long one waits', async () => {
    const { clock, there, seal } = between();
    const [used, late] = [seal(), seal()];
    expect(there.open(REQUEST, used)).toBeDefined();
    for (let second = 0; second < 30; second++) {
      await clock.advance(1000);
      expect(there.open(REQUEST, used)).toBeUndefined();
    }
    expect(there.open(REQUEST, late)).toBeUndefined();
  });

  it.each([undefined, '', 'x', 'x'.repeat(40_000), ['a'], 7])('is nothing that was not sealed: %s', (text) => {
    expect(between().there.open(REQUEST, text)).toBeUndefined();
  });

  it('is accepted by a node whose clock is a minute ahead, if that is known', () => {
    const clock = new FakeClock();
    const ahead = { now: () => clock.now() + 60_000, after: clock.after.bind(clock) };
    const there = new HopGrants(createSealer(KEYS), ahead, 'there');
    const here = new HopGrants(createSealer(KEYS), clock, 'here');
    expect(there.open(REQUEST, here.seal(REQUEST, { to: 'there', clockAhead: 0 }))).toBeUndefined();
    expect(there.open(REQUEST, here.seal(REQUEST, { to: 'there', clockAhead: 60_000 }))).toBeDefined();
    expect(there.open(REQUEST, here.seal(REQUEST, { to: 'there', clockAhead: 57_000 }))).toBeDefined();
  });
});
