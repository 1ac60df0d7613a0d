import { expect, it } from 'vitest';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import type { State } from '../../../kernel/state/state.ts';
import { LoginMemory } from './login-memory.ts';
import { createPageLogin } from './page-login.ts';

const PUBLIC = 'https://gw.example.test';
const PAGES = { clientId: 'gateway', clientSecret: 'a secret of the gateway' };
const ISSUER = 'https://login.example.test';
const sealer = createSealer(['a key that all gateways have']);

function pageLogin(state: State) {
  const context = {
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    sealer,
    memory: new LoginMemory({ clock: systemClock, state }),
  };
  const never = (): never => {
    throw new Error('no page is shown');
  };
  const base = async (): Promise<string> => PUBLIC;
  return createPageLogin({ issuers: [{ issuer: ISSUER, pages: PAGES }] }, PUBLIC, { ...context, pages: never, base })!;
}

/** A browser that Ada has logged in with. */
function requestOfAda(): HttpRequest {
  const self = JSON.stringify([PUBLIC, ISSUER, PAGES.clientId]);
  const cookie = sealer.seal('visitor', self, { principal: `${ISSUER}#ada`, until: Date.now() + 60_000 });
  const name = `__Host-parley-visitor-${sha256(self, 'hex').slice(0, 16)}`;
  return { headers: { cookie: `${name}=${cookie}` } } as unknown as HttpRequest;
}

const response = { setHeader: () => {} } as unknown as HttpResponse;

it('a person who logs out at one gateway is logged out at all that share its state, and at no others', async () => {
  const shared = new MemoryState(systemClock, { isShared: true });
  const [one, two, other] = [pageLogin(shared), pageLogin(shared), pageLogin(new MemoryState(systemClock))];
  const [request, another] = [requestOfAda(), requestOfAda()];
  const seen = () => Promise.all([one, two, other].map((login) => login.visitorOf(request)));
  expect(await seen()).toEqual(Array(3).fill(`${ISSUER}#ada`));
  await one.logOut({ request, response });
  expect(await seen()).toEqual([undefined, undefined, `${ISSUER}#ada`]);
  expect(await two.visitorOf(another)).toBe(`${ISSUER}#ada`);
});

it('while the state does not answer, nobody counts as logged in at a page', async () => {
  const down = Object.assign(new MemoryState(systemClock, { isShared: true }), {
    get: () => Promise.reject(new Error('it does not answer')),
  });
  await expect(pageLogin(down).visitorOf(requestOfAda())).rejects.toThrow('it does not answer');
});
