import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/base/clock.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { AuthOptions } from './auth/auth-options.ts';
import { LiveLogin } from './live-login.ts';
import { createLogin } from './login.ts';
import type { Login } from './login.ts';

const context = { clock: systemClock, log: createLog({ level: 'silent' }) };
const keyOf = (name: string) => `parley_the-key-of-${name}-0123456789`;
const authOf = (...names: string[]): AuthOptions => ({ keys: names.map((name) => ({ name, key: keyOf(name) })) });

function livingLogin(auth: AuthOptions) {
  const closed: Login[] = [];
  const made: Login[] = [];
  const live = new LiveLogin(auth, (one) => {
    const login = createLogin({ auth: one }, context);
    made.push(login);
    const close = () => void closed.push(login);
    return { ...login, close, retire: close };
  });
  const identify = async (name: string) => {
    const headers = { authorization: `Bearer ${keyOf(name)}` };
    const found = await live.identify({ headers, transport: 'http', method: 'POST', url: '/mcp' });
    return (found as { principal: string }).principal;
  };
  return { live, closed, made, identify };
}

describe('a login that is replaced', () => {
  it('judges every request by the auth of that moment', async () => {
    const { live, identify } = livingLogin(authOf('ann', 'bob'));
    expect(await identify('bob')).toBe('key:bob');
    live.replace(authOf('ann', 'carl'));
    expect(await identify('ann')).toBe('key:ann');
    expect(await identify('carl')).toBe('key:carl');
    await expect(identify('bob')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('goes back to the former auth if the update is refused, and closes the one that nobody uses', async () => {
    const { live, identify, closed, made } = livingLogin(authOf('ann'));
    const refused = live.checkpoint();
    live.replace(authOf('bob'));
    refused.undo();
    expect(await identify('ann')).toBe('key:ann');
    await expect(identify('bob')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(closed).toEqual([made[1]]);
    const whole = live.checkpoint();
    live.replace(authOf('carl'));
    whole.keep();
    expect(closed).toEqual([made[1], made[0]]);
    const idle = live.checkpoint();
    idle.keep();
    expect(closed).toHaveLength(2);
  });

  it.each<[string, AuthOptions | undefined]>([
    ['none at all', undefined],
    ['a token for everybody', { token: 'a-token-that-is-long-enough' }],
    ['an issuer without a URL', { issuers: ['example'] }],
    ['headers that hold secrets', { ...authOf('ann'), headers: ['cookie'] }],
  ])('stays as it is where the next auth is %s', async (_what, auth) => {
    const { live, identify } = livingLogin(authOf('ann'));
    expect(() => live.replace(auth)).toThrow();
    expect(await identify('ann')).toBe('key:ann');
  });

  it('asks at pages only while somebody can log in there', async () => {
    const { live } = livingLogin(authOf('ann'));
    expect(live.pageLogin.hostFor('key:ann')).toBeUndefined();
    expect(await live.pageLogin.visitorOf({ headers: {} } as never)).toBeUndefined();
    expect(() => live.pageLogin.begin({} as never)).toThrow('nobody logs in at pages');
  });
});
