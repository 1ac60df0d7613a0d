// Our client before servers that want a login, with a real authorization server (oidc-provider) behind them.
import { describe, expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import type { Client } from 'mcp-parley';
import { refusal, textOf } from '../helpers/fixture-server.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import type { OidcServer } from '../helpers/oidc-server.ts';

function logInAt(server: OidcServer): Promise<Client> {
  return connect(server.url, { onLogin: (link) => server.visit(link) });
}

function refreshes({ counts }: OidcServer): number {
  return counts.get('refresh_token') ?? 0;
}

describe('a server that needs a login', () => {
  test('is used after one login by a person', async () => {
    await using server = await startOidcServer();
    await using client = await logInAt(server);
    expect(await textOf(client, 'whoami')).toBe('hello');
    expect(server.counts.get('page')).toBe(1);
    expect(server.counts.get('authorization_code')).toBe(1);
  });

  test('is an error that says so where nobody can log in', async () => {
    await using server = await startOidcServer();
    const error = await refusal({ url: server.url, auth: {} });
    expect(error).toMatchObject({
      code: 'UPSTREAM_LOGIN_NEEDED',
      message: `${server.url} needs a login. Run: parley login ${server.url}`,
    });
  });

  test('gets new tokens by itself when the old ones expire', async () => {
    await using server = await startOidcServer({ accessTtl: 2 });
    await using client = await logInAt(server);
    while (refreshes(server) < 2) expect(await textOf(client, 'whoami')).toBe('hello');
    expect(server.counts.get('page')).toBe(1);
  });

  test('spends one refresh token for many calls at once', async () => {
    await using server = await startOidcServer({ accessTtl: 2 });
    await using client = await logInAt(server);
    while (refreshes(server) < 2) await Promise.all(Array.from({ length: 20 }, () => textOf(client, 'whoami')));
    expect(server.counts.get('revoked')).toBeUndefined();
    expect(server.counts.get('page')).toBe(1);
  });

  test('asks the person again after its tokens were revoked', async () => {
    await using server = await startOidcServer();
    await using client = await logInAt(server);
    await server.revokeAll();
    expect(await textOf(client, 'whoami')).toBe('hello');
    expect(server.counts.get('page')).toBe(2);
    expect(server.counts.get('registered')).toBe(1);
  });

  test('never gets a token of another server', async () => {
    await using one = await startOidcServer();
    await using other = await startOidcServer();
    await using client = await logInAt(one);
    await using second = await logInAt(other);
    await Promise.all([textOf(client, 'whoami'), textOf(second, 'whoami')]);
    const tokens = new Set(one.seen.filter((header) => header !== ''));
    expect(other.seen.some((header) => tokens.has(header))).toBe(false);
  });

  test('keeps the Authorization header that was configured, and logs nobody in', async () => {
    await using server = await startOidcServer();
    const headers = { authorization: 'Bearer mine' };
    const error = await refusal({ url: server.url, headers }, { onLogin: (link) => server.visit(link) });
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAUTHORIZED' });
    expect(server.counts.get('page')).toBeUndefined();
  });
});

describe('a server that attacks who logs in', () => {
  test.each([
    ['names an authorization server in a private network', { authorization_servers: ['https://10.0.0.1'] }, 'private'],
    ['names the metadata service of a cloud', { authorization_servers: ['http://169.254.169.254'] }, 'https is needed'],
    ['names an odd spelling of a private address', { authorization_servers: ['https://[::ffff:10.0.0.1]'] }, 'private'],
    ['claims another resource', { resource: 'https://bank.example/mcp' }, 'another resource'],
  ])('%s, and is refused', async (_, metadata, reason) => {
    await using server = await startOidcServer();
    Object.assign(server.metadata, metadata);
    const error = await refusal(server.url, { onLogin: (link) => server.visit(link) });
    expect(error).toMatchObject({ code: 'UPSTREAM_LOGIN_FAILED', message: expect.stringContaining(reason) });
    expect(server.counts.get('page')).toBeUndefined();
  });

  test('answers the login with the state of somebody else, and the login continues', async () => {
    await using server = await startOidcServer();
    await using client = await connect(server.url, {
      async onLogin(link) {
        const redirect = new URL(new URL(link).searchParams.get('redirect_uri')!);
        redirect.search = 'code=stolen&state=guessed';
        expect((await fetch(redirect)).status).toBe(404);
        await server.visit(link);
      },
    });
    expect(await textOf(client, 'whoami')).toBe('hello');
  });

  test('is given no code of another issuer', async () => {
    await using server = await startOidcServer();
    const error = await refusal(server.url, {
      async onLogin(link) {
        const { searchParams } = new URL(link);
        const redirect = new URL(searchParams.get('redirect_uri')!);
        redirect.search = `code=x&state=${searchParams.get('state')}&iss=https://evil.example`;
        await fetch(redirect);
      },
    });
    expect(error).toMatchObject({ code: 'UPSTREAM_LOGIN_FAILED', message: expect.stringContaining('"iss"') });
    expect(server.counts.get('authorization_code')).toBeUndefined();
  });
});
