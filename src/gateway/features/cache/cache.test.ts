import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { cache } from './cache.ts';
import type { CacheOptions } from './cache.ts';
import { FakeClock, FakeExchange, chainOf, settled } from '../../../kernel/fake-exchange.contract.ts';

/** A server that counts its answers, each of which holds a second for whom it says. */
function made(answer: JsonObject = {}, options: CacheOptions = {}) {
  const clock = new FakeClock();
  const step = cache({ clock, ...options });
  const state = { asked: 0, answer: { ttlMs: 1000, cacheScope: 'public', ...answer } as JsonObject };
  const call = chainOf([step], () => ({ ...state.answer, number: ++state.asked }));
  const as = async (principal: string, method = 'tools/list', params: JsonObject = {}, revision = 'r1') =>
    (await call(new FakeExchange(method, params, { principal, revision }))).number;
  return { clock, step, state, call, as };
}

describe('cache', () => {
  it('answers from memory as long as the result holds, and says how long that is', async () => {
    const { clock, call, state } = made();
    expect(await call('tools/list')).toMatchObject({ number: 1, ttlMs: 1000 });
    await clock.advance(400);
    expect(await call('tools/list')).toMatchObject({ number: 1, ttlMs: 600 });
    await clock.advance(600);
    expect(await call('tools/list')).toMatchObject({ number: 2, ttlMs: 1000 });
    expect(state.asked).toBe(2);
  });

  it('gives to all what is public, and to its principal alone what is private or does not say', async () => {
    const shared = made();
    expect([await shared.as('alice'), await shared.as('bob')]).toEqual([1, 1]);
    for (const cacheScope of ['private', undefined, 'odd']) {
      const own = made({ cacheScope });
      expect([await own.as('alice'), await own.as('bob'), await own.as('alice')]).toEqual([1, 2, 1]);
    }
  });

  it('tells pages, resources and revisions apart, but not by what belongs to the request alone', async () => {
    const { as } = made();
    const read = (uri: string) => as('a', 'resources/read', { uri });
    expect([await as('a'), await as('a', 'tools/list', { cursor: '2' })]).toEqual([1, 2]);
    expect([await read('x:1'), await read('x:2'), await read('x:1')]).toEqual([3, 4, 3]);
    expect(await as('a', 'tools/list', {}, 'r2')).toBe(5);
    expect(await as('a', 'tools/list', { _meta: { trace: 1 } })).toBe(1);
  });

  it('keeps nothing that does not hold, unless told to', async () => {
    const silent = made({ ttlMs: undefined });
    expect([await silent.as('a'), await silent.as('a')]).toEqual([1, 2]);
    const told = made({ ttlMs: undefined }, { ttlMs: 500 });
    expect([await told.as('a'), await told.as('a')]).toEqual([1, 1]);
    const zero = made({ ttlMs: 0 }, { ttlMs: 500 });
    expect([await zero.as('a'), await zero.as('a')]).toEqual([1, 2]);
  });

  it('keeps nothing longer than it may', async () => {
    const { as, clock } = made({ ttlMs: 1e12 }, { maxTtlMs: 100 });
    await as('a');
    await clock.advance(100);
    expect(await as('a')).toBe(2);
  });

  it.each([
    ['tools/list', { kind: 'tools' }],
    ['prompts/list', { kind: 'prompts' }],
    ['resources/list', { kind: 'resources' }],
    ['resources/templates/list', { kind: 'resources' }],
    ['resources/read', { kind: 'resource', uri: 'file:///a' }],
  ] as const)('forgets %s when it has changed', async (method, change) => {
    const { as, step } = made();
    const uri = 'file:///a';
    await as('a', method, { uri });
    step.onChange!(method === 'tools/list' ? { kind: 'prompts' } : { kind: 'tools' });
    expect(await as('a', method, { uri })).toBe(1);
    expect(step.onChange!(change)).toBe(change);
    expect(await as('a', method, { uri })).toBe(2);
  });

  it('the cache does not keep what was under way when something changed', async () => {
    const step = cache();
    let answer: (result: JsonObject) => void = () => {};
    let asked = 0;
    const call = chainOf([step], () => (asked++, new Promise((resolve) => (answer = resolve))));
    for (const expected of [1, 2]) {
      const result = call('tools/list');
      await settled();
      expect(asked).toBe(expected);
      step.onChange!({ kind: 'tools' });
      answer({ ttlMs: 1000 });
      await result;
    }
  });

  it('the cache does not touch calls', () => {
    expect(made().step.methods).not.toContain('tools/call');
  });

  it('keeps so many, and so much, and lets go of what was used longest ago', async () => {
    const few = made({}, { maxEntries: 2 });
    const read = (uri: string) => few.as('a', 'resources/read', { uri });
    expect([await read('1'), await read('2'), await read('1'), await read('3')]).toEqual([1, 2, 1, 3]);
    expect([await read('1'), await read('2')]).toEqual([1, 4]);
    const small = made({ text: 'x'.repeat(1000) }, { maxBytes: 3000 });
    const readSmall = (uri: string) => small.as('a', 'resources/read', { uri });
    expect([await readSmall('1'), await readSmall('2'), await readSmall('3')]).toEqual([1, 2, 3]);
    expect([await readSmall('3'), await readSmall('1')]).toEqual([3, 4]);
    const none = made({ text: 'x'.repeat(1000) }, { maxBytes: 500 });
    expect([await none.as('a'), await none.as('a')]).toEqual([1, 2]);
  });

  it('keeps the chains it is part of apart', async () => {
    const step = cache();
    const [one, other] = ['one', 'other'].map((name) =>
      chainOf([step], () => ({ name, ttlMs: 1000, cacheScope: 'public' })),
    );
    expect([await one!('tools/list'), await other!('tools/list')]).toMatchObject([{ name: 'one' }, { name: 'other' }]);
  });
});
