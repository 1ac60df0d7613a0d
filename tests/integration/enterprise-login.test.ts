// Enterprise-managed authorization, both ways: a gateway logs in at another one for a person whom the company's identity provider knows (ID-JAG).
// The identity provider is an oidc-provider, with the token exchange that the draft describes; the other gateway is in front mode, so its
// authorization server is one, too.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { afterEach, expect, test } from 'vitest';
import { connect, createGateway, createLog } from 'mcp-parley';
import type { Address } from 'mcp-parley';
import { connected, refusal, textOf } from '../helpers/fixture-server.ts';
import { VERIFIER, Browser, startFront } from '../helpers/front-setup.ts';

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const REDIRECT = 'http://127.0.0.1:33418/callback';
/** The program of the person: it has their ID token, and is known to the identity provider and to the gateway that it calls. */
const DESKTOP = { clientId: 'desktop', clientSecret: 'the-secret-of-the-desktop-0123456789' };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** The company's: people log in, and programs exchange their ID tokens for assertions. */
async function startIdp() {
  const server = createHttpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'ES256' };
  const client = (id: string) => ({
    client_id: id,
    client_secret: id === 'desktop' ? DESKTOP.clientSecret : `the-secret-of-${id}-0123456789`,
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', EXCHANGE],
    token_endpoint_auth_method: 'client_secret_post' as const,
    id_token_signed_response_alg: 'ES256' as const,
    application_type: 'native' as const,
  });
  const provider = new Provider(issuer, {
    clients: [client('desktop'), client('other')],
    jwks: { keys: [key] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, { uid }) => `/agree/${uid}` },
  });
  const asked: Record<string, unknown>[] = [];
  let count = 0;
  provider.registerGrantType(
    EXCHANGE,
    async (ctx) => {
      const { client: by } = ctx.oidc;
      const params: Record<string, unknown> = ctx.oidc.params ?? {};
      asked.push({ ...params });
      const { payload } = await provider.IdToken.validate(String(params['subject_token']), by).catch(() => {
        throw Object.assign(new Error('invalid_grant'), { statusCode: 400, expose: true, error: 'invalid_grant' });
      });
      const claims = {
        client_id: by.clientId,
        resource: params['resource'],
        scope: params['scope'],
        jti: `${++count}`,
      };
      const assertion = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'oauth-id-jag+jwt' })
        .setIssuer(issuer)
        .setSubject(String(payload.sub))
        .setAudience(String(params['audience']))
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey);
      ctx.body = { issued_token_type: ID_JAG, access_token: assertion, token_type: 'N_A', expires_in: 300 };
    },
    ['audience', 'resource', 'scope', 'requested_token_type', 'subject_token', 'subject_token_type'],
  );
  const own = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/agree/')) return void own(request, response);
    void provider.interactionDetails(request, response).then(async ({ prompt, params, session }) => {
      if (prompt.name === 'login')
        return provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
      const grant = new provider.Grant({ accountId: session!.accountId, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid');
      const consent = { grantId: await grant.save() };
      return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
    });
  });
  return { issuer, asked, idToken: (id = 'desktop') => idTokenAt(issuer, id, client(id).client_secret) };
}

/** As a program gets it when a person logs in. */
async function idTokenAt(issuer: string, id: string, secret: string): Promise<string> {
  const page = new URL(`${issuer}/auth`);
  const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(VERIFIER))).toString('base64url');
  const asked = { client_id: id, response_type: 'code', scope: 'openid', redirect_uri: REDIRECT };
  page.search = String(new URLSearchParams({ ...asked, code_challenge: challenge, code_challenge_method: 'S256' }));
  const { url } = await new Browser().open(page.href, { stop: REDIRECT });
  const code = new URL(url).searchParams.get('code')!;
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT });
  for (const [name, value] of Object.entries({ client_id: id, client_secret: secret, code_verifier: VERIFIER }))
    body.set(name, value);
  const { id_token: token } = (await (await fetch(`${issuer}/token`, { method: 'POST', body })).json()) as {
    id_token: string;
  };
  return token;
}

async function starting(idToken?: string) {
  const idp = await startIdp();
  const front = await startFront({
    front: { assertions: [idp.issuer], clients: [DESKTOP] },
    auth: { scopes: ['mcp'] },
  });
  closing.push(async () => front[Symbol.asyncDispose]());
  const token = idToken ?? (await idp.idToken());
  const address: Address = {
    url: front.url,
    auth: {
      ...DESKTOP,
      grant: 'id_jag',
      idp: { ...DESKTOP, tokenEndpoint: `${idp.issuer}/token`, idToken: () => token },
    },
  };
  return { idp, front, address };
}

test('a program calls a gateway for a person, without a page', async () => {
  const { idp, front, address } = await starting();
  await using client = await connect(address);
  expect(await textOf(client, 'hello__whoami')).toContain(`${front.front}#${idp.issuer}#ada`);
  expect(front.asked).toEqual([]);
  expect(idp.asked).toHaveLength(1);
  expect(idp.asked[0]).toMatchObject({ audience: front.front, resource: front.url, requested_token_type: ID_JAG });
});

test('a gateway logs in so at another one, and again by itself when its token no longer counts', async () => {
  const { idp, front, address } = await starting();
  const gateway = createGateway({ servers: { other: address }, log: createLog({ level: 'silent' }) });
  closing.push(() => gateway.close());
  await using client = await connected((await gateway.listen({ port: 0 })).url);
  expect(await textOf(client, 'hello__whoami')).toContain('#ada');
  await front.restart(); // with another key: no token from before counts
  await client.callTool('hello__whoami', {}).catch(() => {}); // the connection from before may have ended under it
  expect(await textOf(client, 'hello__whoami')).toContain('#ada');
  expect(idp.asked).toHaveLength(2);
});

test('an ID token of another program is exchanged for nothing', async () => {
  const { idp, front } = await starting('unused');
  const stolen = await idp.idToken('other');
  const auth = { ...DESKTOP, grant: 'id_jag' as const };
  const error = await refusal({
    url: front.url,
    auth: { ...auth, idp: { ...DESKTOP, tokenEndpoint: `${idp.issuer}/token`, idToken: stolen } },
  });
  expect(error).toMatchObject({ code: 'UPSTREAM_LOGIN_FAILED' });
  expect(error.message).not.toContain(stolen);
});
