// Enterprise-managed authorization: a client brings an assertion of the company's identity provider (ID-JAG), and gets a token. Each case that
// must fail changes one thing of the case that works.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decodeJwt } from 'jose';
import { createTestIssuer } from '../../src/mcp/listen/auth/issuer.contract.ts';
import type { TestIssuer, TokenShape } from '../../src/mcp/listen/auth/issuer.contract.ts';
import { callModern } from '../helpers/mcp-http.ts';
import { exchange, register, startFront } from '../helpers/front-setup.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const CLIENT = { clientId: 'crm', clientSecret: 'the-secret-of-the-crm-0123456789' };
const OTHER = { clientId: 'other', clientSecret: 'the-secret-of-another-0123456789' };
const basic = ({ clientId, clientSecret }: typeof CLIENT) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
});

let idp: TestIssuer;
let stranger: TestIssuer;
beforeEach(async () => {
  [idp, stranger] = await Promise.all([createTestIssuer(), createTestIssuer()]);
});
afterEach(() => {
  idp.close();
  stranger.close();
});

let count = 0;
const header = { typ: 'oauth-id-jag+jwt' };

async function starting() {
  const setup = await startFront({
    front: { assertions: [idp.url], clients: [CLIENT, OTHER] },
    auth: { scopes: ['mcp'], toolScopes: { x: ['write'] } },
  });
  const { front, url } = setup;
  const assertion = (claims: object = {}, shape: TokenShape = {}, by = idp) =>
    by.token(
      { aud: front, client_id: 'crm', jti: `one ${++count}`, resource: url, scope: 'mcp', ...claims },
      { header, ...shape },
    );
  const bring = (
    text: string,
    { as = CLIENT, more = {} }: { as?: typeof CLIENT; more?: Record<string, string> } = {},
  ) => exchange(front, { grant_type: JWT_BEARER, assertion: text, ...more }, basic(as));
  return { setup, front, url, assertion, bring };
}

test('an assertion of the identity provider is exchanged for a token of its user', async () => {
  const { setup, front, url, assertion, bring } = await starting();
  await using _ = setup;
  const { status, body } = await bring(await assertion());
  expect([status, body['token_type'], body['scope']]).toEqual([200, 'Bearer', 'mcp']);
  expect(decodeJwt(body['access_token']!)).toMatchObject({
    iss: front,
    aud: url,
    sub: `${idp.url}#ann`,
    client_id: 'crm',
  });
  const called = await callModern(url, 'hello__whoami', {}, { authorization: `Bearer ${body['access_token']}` });
  expect([called.status, called.text]).toEqual([200, expect.stringContaining(`${idp.url}#ann`)]);
  const more = await bring(await assertion({ scope: 'mcp' }), { more: { scope: 'mcp write admin' } });
  expect(more.body['scope']).toBe('mcp');
});

test('an assertion that is not for this client, this server and this moment is refused', async () => {
  const { setup, front, url, assertion, bring } = await starting();
  await using _ = setup;
  const now = Math.floor(Date.now() / 1000);
  const used = await assertion();
  expect((await bring(used)).status).toBe(200);
  const cases: [string, string, Parameters<typeof bring>[1]?][] = [
    ['used before', used],
    ['for another server', await assertion({ aud: 'https://other.example' })],
    ['for the endpoint instead of the authorization server', await assertion({ aud: url })],
    ['for two servers', await assertion({ aud: [front, 'https://other.example'] })],
    ['of an unknown identity provider', await assertion({}, {}, stranger)],
    ['of an unknown one in the name of a known one', await assertion({ iss: idp.url }, {}, stranger)],
    ['for another client', await assertion({ client_id: 'other' })],
    ['brought by another client', await assertion(), { as: OTHER }],
    ['of no client', await assertion({}, { without: ['client_id'] })],
    ['expired', await assertion({ exp: now - 60, iat: now - 120 })],
    ['without end', await assertion({}, { without: ['exp'] })],
    ['that lives for days', await assertion({ exp: now + 7 * 86_400 })],
    ['without an id', await assertion({}, { without: ['jti'] })],
    ['of nobody', await assertion({ sub: '' })],
    ['an access token', await assertion({}, { header: { typ: 'at+jwt' } })],
    ['an ID token', await assertion({}, { header: { typ: 'JWT' } })],
    ['for a foreign resource', await assertion({ resource: 'https://other.example/mcp' })],
    ['for another resource than it says', await assertion(), { more: { resource: `${url}/hello` } }],
    ['no JWT', 'nonsense'],
    ['with a wrong secret', await assertion(), { as: { clientId: 'crm', clientSecret: OTHER.clientSecret } }],
  ];
  for (const [what, text, how] of cases) {
    const { status } = await bring(text, how);
    expect([what, status]).toEqual([what, what === 'with a wrong secret' ? 401 : 400]);
  }
  const { client_id: id } = await register(front, {
    grant_types: [JWT_BEARER],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'none',
  });
  if (typeof id === 'string') {
    const open = { grant_type: JWT_BEARER, client_id: id, assertion: await assertion({ client_id: id }) };
    expect((await exchange(front, open)).status).toBeGreaterThanOrEqual(400);
  }
  // One assertion, many at once.
  const one = await assertion();
  const all = await Promise.all(Array.from({ length: 5 }, () => bring(one)));
  expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
});
