// `parley login`, `logins`, `logout` and `wrap` before servers that need a login, as processes of one user. The browser is a program
// that follows the link.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect } from 'mcp-parley';
import { startOidcServer } from '../helpers/oidc-server.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { hasTool } from '../helpers/tools.ts';
import { browserOf } from '../helpers/browser-program.ts';
import { LoginBrowser } from '../helpers/login-browser.ts';
import { DEMO_FIXTURE, homesOfTests } from '../helpers/parley.ts';

const { newHome } = homesOfTests();
const DEMO = { command: DEMO_FIXTURE[0], args: DEMO_FIXTURE.slice(1) };

describe('a person', () => {
  test('logs in, uses the server, sees the login and ends it', async () => {
    await using server = await startOidcServer();
    const home = newHome();
    const login = await home.run(['login', server.url], '', browserOf(home));
    expect(login).toMatchObject({ status: 0, stdout: `Logged in at ${server.url}.\n` });
    const called = await home.run(['call', 'whoami', server.url]);
    expect(called).toMatchObject({ status: 0, stdout: expect.stringContaining('hello') });

    const listed = await home.run(['logins']);
    expect(listed.stdout).toContain(server.url);
    expect(listed.stdout).toContain('renewed when needed');
    const tokens = server.seen.filter((header) => header !== '').map((header) => header.replace('Bearer ', ''));
    expect(tokens.length).toBeGreaterThan(0);
    const files = join(home.path, 'state', 'parley', 'logins');
    const written = readdirSync(files).map((name) => readFileSync(join(files, name), 'utf8'));
    for (const text of [listed.stdout, (await home.run(['logins', '--json'])).stdout, ...written]) {
      expect(tokens.some((token) => text.includes(token))).toBe(false);
    }

    expect((await home.run(['login', server.url])).stdout).toBe(`You are logged in at ${server.url}.\n`);
    expect((await home.run(['logout', server.url])).stdout).toBe(`Logged out of ${server.url}.\n`);
    expect((await home.run(['logins'])).stdout).toBe('You are logged in nowhere.\n');
    expect(server.counts.get('revoked')).toBe(1);
    expect((await home.run(['call', 'whoami', server.url])).stderr).toContain('needs a login');
  });

  test('logs in at a server of the configuration by its name', async () => {
    await using server = await startOidcServer();
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { guarded: { url: server.url } } });
    expect(await home.run(['login', 'guarded'], '', browserOf(home))).toMatchObject({ status: 0 });
    const called = await home.run(['call', 'guarded__whoami', '--config', 'parley.config.json']);
    expect(called.stdout).toContain('hello');
    home.write('parley.config.json', { mcpServers: { local: { command: 'node' } } });
    expect((await home.run(['login', 'local'])).stderr).toContain('has no URL');
    expect((await home.run(['login', 'nobody'])).stderr).toContain('is not in it');
  });

  test('is sent to the page by `wrap` at the first refusal, and not again by the next `wrap`', async () => {
    await using server = await startOidcServer();
    const home = newHome();
    const env = browserOf(home);
    for (let times = 0; times < 2; times++) {
      const { env: own, ...address } = home.address(['wrap', server.url]);
      await using client = await connect({ ...address, env: { ...own, ...env } });
      expect(await textOf(client, 'whoami')).toBe('hello');
    }
    expect(server.counts.get('page')).toBe(1);
  });

  test('is told the link where nothing can open it, and `wrap` says it to the client', async () => {
    await using server = await startOidcServer();
    const home = newHome();
    const { env: own, ...address } = home.address(['wrap', '--start-timeout', '10', server.url]);
    const failure = await connect({ ...address, env: { ...own, BROWSER: 'none' } }).catch((error: Error) => error);
    expect(String(failure)).toMatch(
      /needs a login\. Open http:\/\/127\.0\.0\.1:\d+\/auth\?.*, log in, then connect again/,
    );
  });
});

test('a gateway with the token of this user asks for the login in the conversation, and says elsewhere what to run', async () => {
  await using server = await startOidcServer();
  const home = newHome();
  const file = home.write('parley.config.json', { mcpServers: { guarded: { url: server.url }, demo: DEMO } });
  await using gateway = home.start(['serve', file, '--port', '0'], { BROWSER: 'none' });
  await gateway.url();
  const token = readFileSync(join(home.path, 'state', 'parley', 'token'), 'utf8').trim();
  const headers = { Authorization: `Bearer ${token}` };
  const toRun = 'guarded needs a login. Run: parley login guarded';
  await using client = await connect({ url: await gateway.url(), headers });
  expect((await client.listTools()).map(({ name }) => name)).toContain('guarded__login');
  expect((await home.run(['status'])).stdout).toContain(toRun);
  const key = (await home.run(['key', 'add', 'agent'])).stdout.trim();
  await using agent = await connect({ url: await gateway.url(), headers: { Authorization: `Bearer ${key}` } });
  await expect(agent.callTool('guarded__login')).rejects.toThrow(toRun);
  const { content, _meta } = await client.callTool('guarded__login');
  await new LoginBrowser().logIn(/http:\S+\/login\?t=[\w-]+/.exec(JSON.stringify(content))![0]);
  const { 'mcp-parley/handle': handle } = _meta as Record<string, string>;
  expect(await textOf(client, 'parley_answer', { handle })).toContain('logged in at guarded');
  expect(await textOf(client, 'guarded__whoami')).toBe('hello');
});

/** Every two seconds one; `PARLEY_REFRESHES=30` takes a minute. */
const REFRESHES = Number(process.env['PARLEY_REFRESHES'] ?? 6);

const HERE: string[] = [];
/** What a container has of its own: other processes have its numbers, and its name is another. */
const ELSEWHERE = [
  'bwrap',
  '--dev-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--unshare-pid',
  '--unshare-uts',
  '--hostname',
  'elsewhere',
];

test.each([
  ['twenty processes', HERE, HERE],
  ['twenty processes on two machines that share the folder', HERE, ELSEWHERE],
])(
  '%s with tokens of two seconds, before a server that ends the login if a refresh token is used twice, log in once',
  async (_, ...places) => {
    if (places.includes(ELSEWHERE) && !hasTool('bwrap')) return;
    await using server = await startOidcServer({ accessTtl: 2 });
    const home = newHome();
    const env = browserOf(home);
    expect(await home.run(['login', server.url], '', env)).toMatchObject({ status: 0 });
    const clients = await Promise.all(
      Array.from({ length: 20 }, (__, index) => {
        const { command, args, ...rest } = home.address(['wrap', server.url]);
        const [program, ...all] = [...places[index % 2]!, command, ...(args ?? [])];
        return connect({ ...rest, command: program!, args: all }, { prefer: 'handshake' });
      }),
    );
    try {
      while ((server.counts.get('refresh_token') ?? 0) < REFRESHES) {
        await Promise.all(clients.map(async (client) => expect(await textOf(client, 'whoami')).toBe('hello')));
      }
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
    expect(server.counts.get('page')).toBe(1);
    expect(server.counts.get('revoked')).toBeUndefined();
    expect([...server.counts.keys()].filter((what) => what.startsWith('error:'))).toEqual([]);
  },
  300_000,
);
