// What happens to a login after it: more scopes, tokens that end, services without people. With a real authorization server.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { connect, createGateway, createLog } from 'mcp-parley';
import { connected, refusal, textOf } from '../helpers/fixture-server.ts';
import { LoginBrowser } from '../helpers/login-browser.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import { within } from '../helpers/until.ts';

const scopesOf = (link: string) => new URL(link).searchParams.get('scope')?.split(' ').toSorted();

describe('a server that wants more scopes', () => {
  test('has its person asked once more, for all of them', async () => {
    await using server = await startOidcServer();
    const links: string[] = [];
    await using client = await connect(server.url, {
      onLogin(link) {
        links.push(link);
        return server.visit(link);
      },
    });
    expect(await textOf(client, 'whoami')).toBe('hello');
    server.needs = 'mcp mcp:admin';
    expect(await textOf(client, 'whoami')).toBe('hello');
    expect(links.map(scopesOf)).toEqual([
      ['mcp', 'offline_access'],
      ['mcp', 'mcp:admin', 'offline_access'],
    ]);
    expect(await textOf(client, 'whoami')).toBe('hello');
    expect(links).toHaveLength(2);
  });

  test('may want more of them as often as it is satisfied', async () => {
    await using server = await startOidcServer();
    const links: string[] = [];
    await using client = await connect(server.url, {
      onLogin(link) {
        links.push(link);
        return server.visit(link);
      },
    });
    for (const needs of ['mcp', 'mcp mcp:admin', 'mcp mcp:read', 'mcp mcp:write', 'mcp mcp:admin mcp:read mcp:write']) {
      server.needs = needs;
      expect(await textOf(client, 'whoami')).toBe('hello');
    }
    expect(scopesOf(links.at(-1)!)).toEqual(['mcp', 'mcp:admin', 'mcp:read', 'mcp:write', 'offline_access']);
    expect(links).toHaveLength(4);
  });

  test('has the user of a gateway asked in the conversation, and the call continues', async () => {
    await using server = await startOidcServer();
    const log = createLog({ level: 'silent' });
    const gateway = createGateway({ servers: { guarded: { url: server.url, auth: {} } }, log });
    await using _ = { [Symbol.asyncDispose]: () => gateway.close() };
    let asked = 0;
    await using client = await connected((await gateway.listen({ port: 0 })).url, {
      elicitUrls: true,
      async onElicit(question) {
        asked++;
        await new LoginBrowser().logIn(/http:\S+?\/login\?t=[\w-]+/.exec(JSON.stringify(question))![0]);
        return { action: 'accept', content: {} };
      },
    });
    expect(await textOf(client, 'whoami')).toBe('hello');
    server.needs = 'mcp mcp:admin';
    expect(await within('the call', textOf(client, 'whoami'))).toBe('hello');
    expect(asked).toBe(2);
    // Nothing of the challenge reaches the client.
    expect(server.counts.get('page')).toBe(2);
  });

  test('that is never satisfied ends in an error, not in more and more pages', async () => {
    await using server = await startOidcServer();
    await using client = await connect(server.url, { onLogin: (link) => server.visit(link) });
    server.needs = 'mcp nobody-has-this';
    await expect(client.callTool('whoami', {})).rejects.toThrow(/guarded|127\.0\.0\.1/);
    const pages = server.counts.get('page')!;
    for (let n = 0; n < 5; n++) await expect(client.callTool('whoami', {})).rejects.toThrow();
    expect(server.counts.get('page')).toBeLessThanOrEqual(pages + 1);
    expect(pages).toBeLessThanOrEqual(4);
  });
});

test('a token that has ended, without a way to renew it, has its person asked again', async () => {
  const configuration = { issueRefreshToken: async () => false };
  await using server = await startOidcServer({ accessTtl: 2, configuration });
  await using client = await connect(server.url, { onLogin: (link) => server.visit(link) });
  while ((server.counts.get('page') ?? 0) < 3) expect(await textOf(client, 'whoami')).toBe('hello');
  expect(server.counts.get('refresh_token')).toBeUndefined();
});

test('a client that the login has forgotten is registered again, and its person asked', async () => {
  const configuration = { clientAuthMethods: ['client_secret_basic' as const] };
  await using server = await startOidcServer({ accessTtl: 2, configuration });
  const ids: string[] = [];
  await using client = await connect(server.url, {
    onLogin(link) {
      ids.push(new URL(link).searchParams.get('client_id')!);
      return server.visit(link);
    },
  });
  expect(await textOf(client, 'whoami')).toBe('hello');
  const { adapter } = server.provider.Client as unknown as { adapter: { destroy: (id: string) => Promise<void> } };
  await adapter.destroy(ids[0]!);
  while (ids.length < 2) expect(await textOf(client, 'whoami')).toBe('hello');
  expect(new Set(ids).size).toBe(2);
  expect(server.counts.get('registered')).toBe(2);
});

describe('a service without people', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const service = { client_id: 'reports', grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
  const clients = [
    { ...service, client_secret: 'the-secret-of-reports-0123456789' },
    {
      ...service,
      client_id: 'ledger',
      token_endpoint_auth_method: 'private_key_jwt' as const,
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [publicKey.export({ format: 'jwk' })] },
    },
  ] as never[];
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));

  test.each([
    ['a secret', { clientId: 'reports', clientSecret: 'the-secret-of-reports-0123456789' }],
    ['a key', { clientId: 'ledger', clientKey: pem }],
  ])('logs in with %s, and again when its token has ended', async (_, who) => {
    await using server = await startOidcServer({ accessTtl: 2, configuration: { clients } });
    const auth = { ...who, grant: 'client_credentials' as const, scopes: ['mcp'] };
    await using client = await connect({ url: server.url, auth });
    while ((server.counts.get('client_credentials') ?? 0) < 3) expect(await textOf(client, 'whoami')).toBe('hello');
    expect(server.counts.get('page')).toBeUndefined();
  });

  test('is told that the login does not know it', async () => {
    await using server = await startOidcServer({ configuration: { clients } });
    const auth = { grant: 'client_credentials' as const, clientId: 'reports', clientSecret: 'wrong' };
    const error = await refusal({ url: server.url, auth });
    expect(error).toMatchObject({ code: 'UPSTREAM_LOGIN_FAILED', message: expect.stringContaining('invalid_client') });
    expect(error.message).not.toContain('wrong');
  });
});
