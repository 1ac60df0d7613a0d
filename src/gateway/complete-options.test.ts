import { expect, it } from 'vitest';
import { systemClock } from '../kernel/base/clock.ts';
import type { HttpRequest, HttpResponse } from '../kernel/base/http.ts';
import { createLog } from '../kernel/base/log.ts';
import { sha256 } from '../kernel/crypto/lazy-crypto.ts';
import { EventHub } from '../kernel/events/event-hub.ts';
import type { AuthOptions } from '../mcp/listen/auth/auth-options.ts';
import { completeOptions, toLogin } from './complete-options.ts';

const log = createLog({ level: 'silent' });
const publicUrl = 'https://gw.example.test';
const issuer = 'https://login.example.test';
const pages = { clientId: 'gateway', clientSecret: 'a secret of the gateway' };
const auth: AuthOptions = { issuers: [{ issuer, pages }] };
const response = { setHeader: () => {} } as unknown as HttpResponse;

it('a login at a page that has ended stays ended while `auth` changes, goes and comes back', async () => {
  const options = completeOptions({ servers: {}, log, publicUrl, auth });
  const login = toLogin(options, { base: async () => publicUrl, events: new EventHub({ log, clock: systemClock }) })!;
  const requestOf = (principal: string): HttpRequest => {
    const self = JSON.stringify([publicUrl, issuer, pages.clientId]);
    const cookie = options.sealer.seal('visitor', self, { principal, until: Date.now() + 60_000 });
    const name = `__Host-parley-visitor-${sha256(self, 'hex').slice(0, 16)}`;
    return { headers: { cookie: `${name}=${cookie}` } } as unknown as HttpRequest;
  };
  const [ada, bob] = [requestOf(`${issuer}#ada`), requestOf(`${issuer}#bob`)];
  const seen = () => Promise.all([ada, bob].map((request) => login.pageLogin.visitorOf(request)));
  await login.pageLogin.logOut({ request: ada, response });
  expect(await seen()).toEqual([undefined, `${issuer}#bob`]);
  login.replace({ ...auth, keys: [{ name: 'ann', key: 'parley_the-key-of-ann-0123456789' }] });
  expect(await seen()).toEqual([undefined, `${issuer}#bob`]);
  login.replace({ issuers: [issuer] });
  expect(await seen()).toEqual([undefined, undefined]);
  const refused = login.checkpoint();
  login.replace(auth);
  await login.pageLogin.logOut({ request: bob, response });
  refused.undo();
  login.replace(auth);
  expect(await seen()).toEqual([undefined, undefined]);
});
