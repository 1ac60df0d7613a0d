// A gateway with several users: each has an account of their own at a server, or all use one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Client, Gateway, GatewayOptions } from 'mcp-parley';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { LoginBrowser } from '../helpers/login-browser.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import { within } from '../helpers/until.ts';

const KEYS = { ada: 'key-of-ada-0123456789abcdef0123456789', bob: 'key-of-bob-0123456789abcdef0123456789' };
const QUIET = { log: createLog({ level: 'silent' }) };
const AUTH = { keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })) };
type User = keyof typeof KEYS;

async function serve(options: GatewayOptions): Promise<AsyncDisposable & { gateway: Gateway; url: string }> {
  const gateway = createGateway({ ...QUIET, ...options });
  const { url } = await gateway.listen({ port: 0 });
  return { gateway, url, [Symbol.asyncDispose]: () => gateway.close() };
}

function connectAs(user: User, url: string, revision: string): Promise<Client> {
  return connected({ url, headers: { authorization: `Bearer ${KEYS[user]}` } }, { revision });
}

async function linkFor(client: Client, tool: string): Promise<{ link: string; handle: string }> {
  const { content, _meta } = await client.callTool(tool, {});
  const { text } = content[0] as { text: string };
  return { link: /http:\S+\/login\?t=[\w-]+/.exec(text)![0], handle: String(_meta?.['mcp-parley/handle']) };
}

describe.each(['2025-11-25', '2026-07-28'])('two users with %s before one gateway', (revision) => {
  test('log in with two accounts, and never get what is of the other', async () => {
    await using server = await startOidcServer();
    const servers = { guarded: { server: { url: server.url }, account: 'user' as const } };
    await using between = await serve({ servers, auth: AUTH });
    await using ada = await connectAs('ada', between.url, revision);
    await using bob = await connectAs('bob', between.url, revision);

    const first = await linkFor(ada, 'account');
    const browser = new LoginBrowser('ada');
    expect((await browser.visit(first.link)).text).toContain('ada at this gateway');
    await browser.logIn(first.link);
    expect(await textOf(ada, 'parley_answer', { handle: first.handle })).toBe('ada');

    // What ada has done changes nothing for bob.
    expect((await bob.listTools()).map(({ name }) => name)).toContain('login');
    const second = await linkFor(bob, 'account');
    expect(second.link).not.toBe(first.link);
    await new LoginBrowser('bob').logIn(second.link);
    expect(await textOf(bob, 'parley_answer', { handle: second.handle })).toBe('bob');

    const calls = Array.from({ length: 30 }, async (_, index) => {
      const [client, name] = index % 2 === 0 ? [ada, 'ada'] : [bob, 'bob'];
      expect(await textOf(client, 'account')).toBe(name);
    });
    await within('all calls', Promise.all(calls));
    expect(new Set(server.seen.filter((header) => header !== '')).size).toBe(2);
    expect(server.seen.some((header) => header.includes('key-of'))).toBe(false);
  });

  test('cannot log in for all, which is for the operator to do', async () => {
    await using server = await startOidcServer();
    await using between = await serve({ servers: { guarded: { url: server.url, auth: {} } }, auth: AUTH });
    await using ada = await connectAs('ada', between.url, revision);
    await expect(ada.callTool('account', {})).rejects.toThrow(/guarded needs a login. Run: parley login guarded$/);
  });

  test('have the headers that the program gives for each of them', async () => {
    await using server = await startOidcServer();
    const seen = new Set<string>();
    const credentials: GatewayOptions['credentials'] = async ({ principal }, name) => {
      seen.add(`${principal} ${name}`);
      return { Authorization: `Bearer of-${principal}` };
    };
    await using between = await serve({ servers: { guarded: { url: server.url } }, auth: AUTH, credentials });
    await using ada = await connectAs('ada', between.url, revision);
    await using bob = await connectAs('bob', between.url, revision);
    for (const client of [ada, bob]) await expect(client.callTool('account', {})).rejects.toThrow(/guarded/);
    expect([...seen].map((one) => one.split(' ')[1])).toEqual(['guarded', 'guarded']);
    const sent = new Set(server.seen);
    expect(sent.size).toBe(2);
    for (const header of sent) expect(header).toMatch(/^Bearer of-.*(ada|bob)$/);
  });
});

describe('tokens of users are exchanged (RFC 8693)', () => {
  interface Exchange {
    count: number;
    asked: URLSearchParams[];
  }

  async function startExchange(): Promise<AsyncDisposable & Exchange & { url: string }> {
    const state: Exchange = { count: 0, asked: [] };
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const asked = new URLSearchParams(body);
        state.asked.push(asked);
        const type = 'urn:ietf:params:oauth:token-type:access_token';
        const token = { access_token: `for-${asked.get('subject_token')}`, token_type: 'Bearer', expires_in: 3600 };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ ...token, issued_token_type: type }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
    const dispose = async (): Promise<void> => server.close().closeAllConnections();
    return Object.assign(state, { url, [Symbol.asyncDispose]: dispose });
  }

  async function startEcho(): Promise<AsyncDisposable & { url: string; seen: string[] }> {
    const seen: string[] = [];
    const { createServer: createMcpServer } = await import('mcp-parley');
    const echo = createMcpServer({ name: 'echo', version: '1' });
    echo.tool('token', {}, async (_, call) => String(call.client.connection?.headers?.authorization));
    const endpoint = echo.endpoint();
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      endpoint.handle(request, response);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const dispose = async (): Promise<void> => {
      await echo.close();
      server.close().closeAllConnections();
    };
    return { url, seen, [Symbol.asyncDispose]: dispose };
  }

  const identify: GatewayOptions['identify'] = ({ headers: { authorization = '' } }) => {
    const principal = authorization.replace('Bearer ', '');
    if (principal.startsWith('key-')) return { principal, key: principal };
    return { principal, issuer: 'https://login.example.com', subject: principal };
  };

  test('once for each user, and the token of a client reaches no server', async () => {
    await using exchange = await startExchange();
    await using echo = await startEcho();
    const auth = {
      grant: 'token_exchange',
      clientId: 'parley',
      scopes: ['read'],
      exchange: { tokenEndpoint: exchange.url, audience: 'echo' },
    } as const;
    await using between = await serve({ servers: { echo: { url: echo.url, auth } }, identify });
    const as = (token: string): Promise<Client> =>
      connected({ url: between.url, headers: { authorization: `Bearer ${token}` } });
    await using ada = await as('token-of-ada');
    await using bob = await as('token-of-bob');
    for (let round = 0; round < 3; round++) {
      expect(await textOf(ada, 'token')).toBe('Bearer for-token-of-ada');
      expect(await textOf(bob, 'token')).toBe('Bearer for-token-of-bob');
    }
    expect(exchange.asked).toHaveLength(2);
    expect(Object.fromEntries(exchange.asked[0]!)).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'echo',
      scope: 'read',
      client_id: 'parley',
    });
    expect(new Set(echo.seen)).toEqual(new Set(['Bearer for-token-of-ada', 'Bearer for-token-of-bob']));
  });

  test('but not the keys of this gateway', async () => {
    await using exchange = await startExchange();
    await using echo = await startEcho();
    const auth = { grant: 'token_exchange', clientId: 'parley', exchange: { tokenEndpoint: exchange.url } } as const;
    await using between = await serve({ servers: { echo: { url: echo.url, auth } }, identify });
    await using client = await connected({ url: between.url, headers: { authorization: 'Bearer key-of-ada' } });
    await expect(client.callTool('token', {})).rejects.toThrow(/no token that could be exchanged/);
    expect(exchange.asked).toHaveLength(0);
  });
});

test('accounts for users need a way to tell users apart', () => {
  const servers = { guarded: { server: { url: 'https://mcp.example.com/mcp' }, account: 'user' as const } };
  expect(() => createGateway({ ...QUIET, servers })).toThrow(/users must be told apart/);
  const local = { files: { server: { command: 'true' }, account: 'user' as const } };
  expect(() => createGateway({ ...QUIET, servers: local, auth: AUTH })).toThrow(/only a server with an http/);
});
