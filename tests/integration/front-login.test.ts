// Clients log in at a gateway whose identity provider knows no registration: an authorization server stands in front of it.
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { callModern } from '../helpers/mcp-http.ts';
import { Browser, REDIRECT, authorizeLink, byCode, exchange, register, startFront } from '../helpers/front-setup.ts';
import type { FrontSetup } from '../helpers/front-setup.ts';

const as = (token: string | undefined) => ({ authorization: `Bearer ${token}` });

async function logIn({ front }: FrontSetup, clientId: string, browser = new Browser()) {
  const page = await browser.open(await authorizeLink(front, clientId));
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Allow access?')]);
  const back = await browser.decide(page, 'allow', REDIRECT);
  return exchange(front, byCode(clientId, back.url));
}

test('a client registers, a person agrees and logs in, and the token is for this gateway alone', async () => {
  await using setup = await startFront({ groups: ['ops'] });
  const { url, front } = setup;
  const metadata = (await (
    await fetch(url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'))
  ).json()) as object;
  expect(metadata).toMatchObject({ resource: url, authorization_servers: [front] });
  for (const place of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/oauth'])
    expect(await (await fetch(url.replace('/mcp', place))).json()).toMatchObject({
      issuer: front,
      authorization_endpoint: `${front}/auth`,
      registration_endpoint: `${front}/reg`,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['none']),
      authorization_response_iss_parameter_supported: true,
    });
  const { client_id: id, status } = await register(front);
  expect(status).toBe(201);
  const { body } = await logIn(setup, String(id));
  expect(decodeJwt(body['access_token']!)).toMatchObject({ iss: front, aud: url, sub: 'ada', name: 'Name of ada' });
  const called = await callModern(url, 'hello__whoami', {}, as(body['access_token']));
  expect([called.status, called.text]).toEqual([200, expect.stringContaining(`${front}#ada`)]);
  const renewed = await exchange(front, {
    grant_type: 'refresh_token',
    client_id: String(id),
    refresh_token: body['refresh_token']!,
  });
  expect((await callModern(url, 'hello__whoami', {}, as(renewed.body['access_token']))).status).toBe(200);
});

test('clients, logins and keys outlive the process, in files that only their owner can read and that hold no secret', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'parley-front-')), 'front');
  await using setup = await startFront({ front: { folder } });
  const { url, front } = setup;
  const { client_id: id } = await register(front);
  const { body } = await logIn(setup, String(id));
  await setup.restart();
  expect((await callModern(url, 'hello__whoami', {}, as(body['access_token']))).status).toBe(200);
  const form = { grant_type: 'refresh_token', client_id: String(id), refresh_token: body['refresh_token']! };
  const renewed = await exchange(front, form);
  expect((await callModern(url, 'hello__whoami', {}, as(renewed.body['access_token']))).status).toBe(200);
  const again = await logIn(setup, String(id));
  expect(again.status).toBe(200);
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o77).toBe(0);
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain(body['refresh_token']!);
  }
});

test('a person who refuses sends the client away without a code, and never reaches the identity provider', async () => {
  await using setup = await startFront();
  const { client_id: id } = await register(setup.front);
  const browser = new Browser();
  const page = await browser.open(await authorizeLink(setup.front, String(id)));
  const back = await browser.decide(page, 'deny', REDIRECT);
  expect(new URL(back.url).searchParams.get('error')).toBe('access_denied');
  expect(setup.asked).toEqual([]);
});

test('only the people whom `allow` names get in', async () => {
  const events: AuditEvent[] = [];
  await using setup = await startFront({
    front: { allow: { email: ['ada@example.com'], groups: 'staff' } },
    groups: ['staff'],
    audit: (event) => events.push(event),
  });
  const { client_id: id } = await register(setup.front);
  expect((await logIn(setup, String(id))).status).toBe(200);
  setup.person.sub = 'mallory';
  const browser = new Browser();
  const page = await browser.open(await authorizeLink(setup.front, String(id)));
  const refused = await browser.decide(page, 'allow', REDIRECT);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('may not use this gateway')]);
  expect(events.filter(({ details }) => details?.['client'] === id || details?.['reason'] !== undefined)).toMatchObject(
    [
      { kind: 'login', principal: expect.stringMatching(/#ada$/), outcome: 'ok' },
      {
        kind: 'refusal',
        principal: `${setup.idp}#mallory`,
        outcome: 'PERSON_REFUSED',
        details: { reason: 'its email is not among the allowed' },
      },
    ],
  );
});
