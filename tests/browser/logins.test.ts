// People log in at servers with a real Chromium: the page of the command, of a gateway, and of a real authorization server.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { startOidcServer } from '../helpers/oidc-server.ts';
import type { OidcServer } from '../helpers/oidc-server.ts';
import { homesOfTests } from '../helpers/parley.ts';
import type { Home } from '../helpers/parley.ts';
import { until, within } from '../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from './chromium.ts';
import type { Tab } from './chromium.ts';

const { open, closing } = browserOfTests();
const { newHome, start } = homesOfTests();

async function guarded(): Promise<OidcServer> {
  const server = await startOidcServer({ pages: true });
  closing.push(async () => server[Symbol.asyncDispose]());
  return server;
}

/** On the page of the authorization server. */
async function signInAs({ page }: Tab, name: string): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The program that a command starts as the browser of this machine; it says what it was asked to open. */
function browserOf(home: Home): { env: { BROWSER: string }; opened: () => Promise<string> } {
  const file = join(home.path, 'opened');
  const program = home.write(
    'browser.sh',
    `#!/bin/sh\nprintf '%s' "$1" > '${file}.new' && mv '${file}.new' '${file}'\n`,
  );
  chmodSync(program, 0o755);
  const opened = () => until('the page to be opened', () => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
  return { env: { BROWSER: program }, opened };
}

async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await within(`the call of ${name}`, client.callTool({ name, arguments: args }));
  return (content as { text: string }[])[0]!.text;
}

describe.skipIf(chromiumPath === undefined)('a person', () => {
  it('logs in with the browser that `parley login` opens, and ends the login', async () => {
    const server = await guarded();
    const home = newHome();
    const { env, opened } = browserOf(home);
    const login = start(home, ['login', server.url], env);
    const tab = await open();
    await tab.page.goto(await opened());
    await signInAs(tab, 'ada');
    await tab.page.getByRole('heading', { name: 'You are logged in' }).waitFor();
    expect(await violations(tab)).toEqual([]);
    expect(tab.complaints).toEqual([]);
    expect([await login.ended(), login.stdout]).toEqual([0, `Logged in at ${server.url}.\n`]);
    expect((await home.run(['call', 'account', server.url])).stdout).toContain('ada');
    expect((await home.run(['logout', server.url])).status).toBe(0);
    expect((await home.run(['call', 'account', server.url])).stderr).toContain('needs a login');
  });

  it('logs in by the printed link where no browser can be opened', async () => {
    const server = await guarded();
    const home = newHome();
    const login = start(home, ['login', server.url], { BROWSER: 'none' });
    const [, link] = await login.says(/Open this link to log in:\s+(http\S+)\s/);
    const tab = await open();
    await tab.page.goto(link!);
    await signInAs(tab, 'ada');
    await tab.page.getByRole('heading', { name: 'You are logged in' }).waitFor();
    expect(await login.ended()).toBe(0);
    expect((await home.run(['call', 'account', server.url])).stdout).toContain('ada');
  });

  it('who refuses at the authorization server is told so, and so is the command', async () => {
    const server = await guarded();
    const home = newHome();
    const { env, opened } = browserOf(home);
    const login = start(home, ['login', server.url], env);
    const link = new URL(await opened());
    const back = new URL(link.searchParams.get('redirect_uri')!);
    const said = { error: 'access_denied', iss: server.issuer, state: link.searchParams.get('state')! };
    back.search = new URLSearchParams(said).toString();
    const tab = await open();
    await tab.page.goto(back.href);
    await tab.page.getByRole('heading', { name: 'The login failed' }).waitFor();
    expect(await violations(tab)).toEqual([]);
    expect(await login.ended()).toBe(1);
    expect(login.stderr).toContain('access_denied');
  });

  it('a person is sent to the page by `wrap` when an official client connects, and not the next time', async () => {
    const server = await guarded();
    const home = newHome();
    const { env, opened } = browserOf(home);
    for (let times = 0; times < 2; times++) {
      const { command, args = [], env: own, cwd } = home.address(['wrap', server.url]);
      const client = new Client({ name: 'official', version: '1' });
      closing.push(() => client.close());
      const connecting = client.connect(
        new StdioClientTransport({ command, args, cwd: cwd!, env: { ...own, ...env }, stderr: 'ignore' }),
      );
      if (times === 0) {
        const tab = await open();
        await tab.page.goto(await opened());
        await signInAs(tab, 'ada');
        await tab.page.getByRole('heading', { name: 'You are logged in' }).waitFor();
      }
      await within('connect', connecting);
      expect(await textOf(client, 'account')).toBe('ada');
    }
    expect(server.counts.get('page')).toBe(1);
  });
});

const KEYS = { ada: 'key-of-ada-0123456789abcdef0123456789', bob: 'key-of-bob-0123456789abcdef0123456789' };

describe.skipIf(chromiumPath === undefined)('through `parley serve`', () => {
  /** Without any way to be asked. */
  async function clientAt(url: string, token?: string): Promise<Client> {
    const client = new Client({ name: 'mute', version: '1' });
    closing.push(() => client.close());
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return client;
  }

  async function askedOf(client: Client, tool: string): Promise<{ link: string; handle: string }> {
    const { content, _meta } = await within('the call', client.callTool({ name: tool, arguments: {} }));
    const { text } = (content as { text: string }[])[0]!;
    return { link: /http:\S+\/login\?t=[\w-]+/.exec(text)![0], handle: String(_meta?.['mcp-parley/handle']) };
  }

  it.each(['light', 'dark'] as const)('a person whose client cannot be asked logs in (%s)', async (colorScheme) => {
    const server = await guarded();
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { guarded: { url: server.url } }, listen: { port: 0 } });
    const gateway = start(home, ['serve', '--open', 'parley.config.json']);
    const client = await clientAt(await gateway.url());
    const { link, handle } = await askedOf(client, 'guarded__account');
    const tab = await open({ colorScheme });
    await tab.page.goto(link);
    await tab.page.getByRole('heading', { name: 'Log in at guarded' }).waitFor();
    expect(await violations(tab)).toEqual([]);
    await tab.page.getByRole('button', { name: 'Continue' }).click();
    await signInAs(tab, 'ada');
    await tab.page.getByRole('heading', { name: 'You are logged in at guarded' }).waitFor();
    expect(await violations(tab)).toEqual([]);
    expect(tab.complaints).toEqual([]);
    expect(await textOf(client, 'parley_answer', { handle })).toBe('ada');
    expect(await textOf(client, 'guarded__account')).toBe('ada');
  });

  it('two people log in with two accounts, each in their own browser', async () => {
    const server = await guarded();
    const home = newHome();
    home.write('parley.config.json', {
      mcpServers: { guarded: { url: server.url, account: 'user' } },
      listen: { port: 0 },
      auth: { keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })) },
    });
    const gateway = start(home, ['serve', 'parley.config.json']);
    const url = await gateway.url();
    const people = await Promise.all(
      (['ada', 'bob'] as const).map(async (name) => {
        const client = await clientAt(url, KEYS[name]);
        return { name, client, tab: await open(), ...(await askedOf(client, 'guarded__account')) };
      }),
    );
    for (const { tab, link, name } of people) {
      await tab.page.goto(link);
      await tab.page.getByText(`After the login, ${name} at this gateway`).waitFor();
      await tab.page.getByRole('button', { name: 'Continue' }).click();
      await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    }
    // Both logins are under way. The link of one does not go on in the browser of the other.
    const [ada, bob] = people as [(typeof people)[0], (typeof people)[0]];
    const second = await ada.tab.context.newPage();
    await second.goto(bob.link);
    await second.getByRole('button', { name: 'Continue' }).click();
    await second.getByRole('heading', { name: 'Nothing here' }).waitFor();
    for (const { tab, name } of [bob, ada]) {
      await signInAs(tab, name);
      await tab.page.getByRole('heading', { name: 'You are logged in at guarded' }).waitFor();
    }
    for (const { client, handle, name } of people) {
      expect(await textOf(client, 'parley_answer', { handle })).toBe(name);
      expect(await textOf(client, 'guarded__account')).toBe(name);
    }
    const listed = (await home.run(['logins'])).stdout;
    expect(listed).toContain('ada');
    expect(listed).toContain('bob');
  });
});
