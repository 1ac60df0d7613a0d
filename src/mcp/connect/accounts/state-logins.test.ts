import { expect, it } from 'vitest';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import type { Lease } from '../../../kernel/state/state.ts';
import type { LoginRecord } from './login-store.ts';
import { createStateLogins } from './state-logins.ts';
import { TokenRefresh } from './token-refresh.ts';

const KEY = 'https://example.com/mcp';
const record = (version: number, access = 'an access token'): LoginRecord => ({
  version,
  server: KEY,
  issuer: 'https://as.example.com',
  client: { id: 'client', kind: 'registered' },
  tokens: { access, type: 'bearer', refresh: `refreshes ${access}`, issuedAt: 0, expiresAt: 1000 },
  authority: { issuer: 'https://as.example.com' },
});

function twoGateways() {
  const state = new MemoryState(systemClock, { isShared: true });
  const [one, two] = [createStateLogins({ state }), createStateLogins({ state })];
  return { state, one, two };
}

it('a login at one gateway is a login at all that share its state', async () => {
  const { one, two } = twoGateways();
  expect(await two.read(KEY)).toBeUndefined();
  expect(two.has(KEY)).toBe(false);
  expect(await one.write(KEY, record(1), 0)).toBe(true);
  expect(two.has(KEY)).toBe(true);
  expect(await two.read(KEY)).toEqual(record(1));
  expect(await two.keys()).toEqual([KEY]);
  expect(await two.remove(KEY)).toBe(true);
  expect(await one.read(KEY)).toBeUndefined();
});

it('a login is not thought missing because an answer from before it came after the news of it', async () => {
  const { state, one, two } = twoGateways();
  const get = state.get.bind(state);
  state.get = async (...given) => {
    const found = await get(...given);
    state.get = get;
    await one.write(KEY, record(1), 0);
    return found;
  };
  expect(await two.read(KEY)).toBeUndefined();
  expect(two.has(KEY)).toBe(true);
  expect(await two.read(KEY)).toEqual(record(1));
});

it('a login is replaced only by who has read its last version', async () => {
  const { one, two } = twoGateways();
  await one.write(KEY, record(1), 0);
  expect(await two.write(KEY, record(1, 'late'), 0)).toBe(false);
  expect(await two.write(KEY, record(2, 'next'), 1)).toBe(true);
  expect(await one.write(KEY, record(2, 'other'), 1)).toBe(false);
  expect((await one.read(KEY))?.tokens?.access).toBe('next');
});

it('the first gateway that binds a secret to an issuer decides', async () => {
  const { one, two } = twoGateways();
  expect(await one.bindIssuer(KEY, 'https://one.example')).toBe('https://one.example');
  expect(await two.bindIssuer(KEY, 'https://two.example')).toBe('https://one.example');
  await one.unbindIssuer(KEY);
  expect(await two.bindIssuer(KEY, 'https://two.example')).toBe('https://two.example');
});

it('one gateway at a time works on a login, in the order of their calls at each', async () => {
  const { one, two } = twoGateways();
  const at: string[] = [];
  const work = (name: string) => async () => {
    at.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    at.push(`${name} ends`);
  };
  await Promise.all([
    one.exclusively(KEY, work('a')),
    two.exclusively(KEY, work('b')),
    one.exclusively(KEY, work('c')),
    two.exclusively('another', work('d')),
  ]);
  const of = (name: string) => at.filter((line) => line.startsWith(name));
  expect(['a', 'b', 'c', 'd'].map(of)).toEqual(['a', 'b', 'c', 'd'].map((name) => [`${name} begins`, `${name} ends`]));
  const alone = at.filter((line) => !line.startsWith('d'));
  for (let n = 0; n < alone.length; n += 2) expect(alone[n]!.slice(0, 1)).toBe(alone[n + 1]!.slice(0, 1));
});

it('new tokens are kept although the state does not answer at once, and although an answer was lost', async () => {
  const { state, one } = twoGateways();
  await one.write(KEY, record(1), 0);
  const put = state.put.bind(state);
  let tries = 0;
  Object.assign(state, {
    put: async (...given: Parameters<typeof put>) => {
      tries += 1;
      if (tries === 1) throw new Error('it does not answer');
      const done = await put(...given);
      if (tries === 2) throw new Error('its answer was lost');
      return done;
    },
  });
  expect(await one.write(KEY, record(2, 'new'), 1)).toBe(true);
  expect(tries).toBe(2);
  expect((await one.read(KEY))?.tokens?.access).toBe('new');
});

it('a gateway whose lease is not sure any more spends no refresh token', async () => {
  const { state, one } = twoGateways();
  await one.write(KEY, record(1), 0);
  const lease = state.lease.bind(state);
  let isSure = false;
  Object.assign(state, {
    lease: async (key: string, ms: number): Promise<Lease> =>
      Object.assign(Object.create((await lease(key, ms))!) as Lease, { isSure: () => isSure, release: async () => {} }),
  });
  let spent = 0;
  const requests = { byRefresh: async () => (spent++, { ...record(2, 'new').tokens! }) };
  const refresh = new TokenRefresh({
    store: one,
    key: KEY,
    requests: requests as never,
    party: async () => ({}) as never,
    tell: () => {},
    now: () => 5000,
    log: createLog({ level: 'silent' }),
  });
  expect(await refresh.renew('an access token')).toBeUndefined();
  expect(spent).toBe(0);
  expect(refresh.failure).toContain('not sure');
  isSure = true;
  await state.close(); // which ends the lease that was not released
  await one.write(KEY, record(1), 0);
  expect((await refresh.renew('an access token'))?.tokens?.access).toBe('new');
  expect(spent).toBe(1);
});
