// A gateway whose server needs a login asks the user of a call for it, in every kind of client, with a real authorization server.
import { describe, expect, test } from 'vitest';
import { Client as SdkClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway, createLog } from 'mcp-parley';
import type { Client, Gateway, GatewayOptions } from 'mcp-parley';
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { LoginBrowser } from '../helpers/login-browser.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import type { OidcServer } from '../helpers/oidc-server.ts';
import { within } from '../helpers/until.ts';

interface Served extends AsyncDisposable {
  gateway: Gateway;
  url: string;
}

async function serve({ url: server }: OidcServer, options: Partial<GatewayOptions> = {}): Promise<Served> {
  const servers = { guarded: { url: server, auth: {} } };
  const gateway = createGateway({ servers, log: createLog({ level: 'silent' }), ...options });
  const { url } = await gateway.listen({ port: 0 });
  return { gateway, url, [Symbol.asyncDispose]: () => gateway.close() };
}

async function told(client: Client, name: string, args = {}): Promise<{ text: string; handle: string }> {
  const { content, _meta } = await client.callTool(name, args);
  return { text: (content[0] as { text: string }).text, handle: String(_meta?.['mcp-parley/handle']) };
}

function linkIn(text: string): string {
  return /http:\S+\/login\?t=[\w-]+/.exec(text)![0];
}

async function names(client: Client): Promise<string[]> {
  return (await client.listTools()).map(({ name }) => name);
}

describe.each(['2025-06-18', '2025-11-25', '2026-07-28'])('a client of %s', (revision) => {
  test('sees one tool, is sent to the login, and then has the tools of the server', async () => {
    await using server = await startOidcServer();
    await using between = await serve(server);
    const links: string[] = [];
    await using client = await connected(between.url, {
      revision,
      elicitUrls: true,
      onElicit: async (asked) => {
        links.push(linkIn(JSON.stringify(asked)));
        expect((await new LoginBrowser().logIn(links[0]!)).text).toContain('You are logged in at guarded');
        return { action: 'accept', content: {} };
      },
    });
    expect(await names(client)).toEqual(['login']);
    expect(await textOf(client, 'login')).toContain('logged in at guarded');
    expect(await names(client)).toEqual(['whoami', 'account']);
    expect(await textOf(client, 'whoami')).toBe('hello');
    expect(links).toHaveLength(1);
    expect(server.counts.get('authorization_code')).toBe(1);
  });

  test('calls a tool by its name, logs in meanwhile, and the call continues', async () => {
    await using server = await startOidcServer();
    await using between = await serve(server);
    const login = async (asked: unknown): Promise<void> => {
      await new LoginBrowser().logIn(linkIn(JSON.stringify(asked)));
    };
    await using client = await connected(between.url, {
      revision,
      elicitUrls: true,
      // The answer comes before the login, as with a real browser.
      onElicit: (asked) => {
        void login(asked);
        return { action: 'accept', content: {} };
      },
    });
    expect(await within('the call', textOf(client, 'whoami'))).toBe('hello');
    await server.revokeAll();
    expect(await within('the call', textOf(client, 'whoami'))).toBe('hello');
    expect(server.counts.get('page')).toBe(2);
  });

  test('that cannot be asked gets the link through its model', async () => {
    await using server = await startOidcServer();
    await using between = await serve(server);
    await using client = await connected(between.url, { revision });
    const { text, handle } = await told(client, 'guarded__whoami'); // the qualified name works, too
    expect(text).toContain('Give the user this link');
    await new LoginBrowser().logIn(linkIn(text));
    expect(await within('the result', textOf(client, 'parley_answer', { handle }))).toBe('hello');
  });

  test('whose user refuses gets an error with the link', async () => {
    await using server = await startOidcServer();
    await using between = await serve(server);
    await using client = await connected(between.url, {
      revision,
      elicitUrls: true,
      onElicit: () => ({ action: 'decline' }),
    });
    await expect(client.callTool('whoami', {})).rejects.toThrow(/guarded needs a login.*\/login\?t=/);
    expect(server.counts.get('page')).toBeUndefined();
  });
});

test('a login and its end are in the audit log', async () => {
  const events: AuditEvent[] = [];
  await using server = await startOidcServer();
  await using between = await serve(server, { audit: (event) => events.push(event) });
  const onElicit = async (asked: unknown) => {
    await new LoginBrowser().logIn(linkIn(JSON.stringify(asked)));
    return { action: 'accept' as const, content: {} };
  };
  await using client = await connected(between.url, { revision: '2025-11-25', elicitUrls: true, onElicit });
  expect(await textOf(client, 'whoami')).toBe('hello');
  await server.revokeAll();
  expect(await textOf(client, 'whoami')).toBe('hello');
  const logins = events.filter(({ kind }) => kind === 'login');
  expect(logins.map(({ server: at, outcome }) => [at, outcome])).toEqual([
    ['guarded', 'ok'],
    ['guarded', 'ended'],
    ['guarded', 'ok'],
  ]);
  expect(JSON.stringify(logins)).not.toMatch(/token/i);
});

test('the official client is sent to the login', async () => {
  await using server = await startOidcServer();
  await using between = await serve(server);
  const capabilities = { elicitation: { url: {} } };
  const client = new SdkClient({ name: 'official', version: '1' }, { capabilities });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    await new LoginBrowser().logIn(linkIn(JSON.stringify(params)));
    return { action: 'accept' };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(between.url)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['login']);
  await client.callTool({ name: 'login' });
  const { content } = await client.callTool({ name: 'whoami' });
  expect(content).toMatchObject([{ text: 'hello' }]);
  await client.close();
});

test('two calls that need the same login send the user to one page', async () => {
  await using server = await startOidcServer();
  await using between = await serve(server);
  await using client = await connected(between.url);
  const calls = await Promise.all([told(client, 'whoami'), told(client, 'whoami')]);
  const links = new Set(calls.map(({ text }) => linkIn(text)));
  expect(links.size).toBe(1);
  await new LoginBrowser().logIn([...links][0]!);
  for (const { handle } of calls) expect(await textOf(client, 'parley_answer', { handle })).toBe('hello');
});

test('a server that needs a login does not keep the others from being listed', async () => {
  await using server = await startOidcServer();
  await using other = await startOidcServer();
  const servers = { guarded: { url: server.url, auth: {} }, quiet: { url: other.url } };
  await using between = await serve(server, { servers });
  await using client = await connected(between.url);
  expect(await names(client)).toEqual(['guarded__login']);
  const [status] = between.gateway.servers.map(({ target }) => target.status);
  expect(status).toMatchObject({ state: 'failing', problem: { message: expect.stringContaining('needs a login') } });
});

describe('who attacks a login that is under way', () => {
  async function begun(): Promise<
    AsyncDisposable & { server: OidcServer; client: Client; link: string; handle: string; base: string }
  > {
    const server = await startOidcServer();
    const between = await serve(server);
    const client = await connected(between.url);
    const { text, handle } = await told(client, 'whoami');
    const dispose = async (): Promise<void> => {
      await client.close();
      await between.gateway.close();
      await server[Symbol.asyncDispose]();
    };
    return {
      server,
      client,
      handle,
      link: linkIn(text),
      base: new URL(between.url).origin,
      [Symbol.asyncDispose]: dispose,
    };
  }

  test('by a state that nobody was given finds nothing', async () => {
    await using one = await begun();
    const browser = new LoginBrowser();
    await browser.goOn(one.link);
    for (const query of ['', '?state=', '?state=guessed&code=x', '?code=x']) {
      expect((await browser.visit(`${one.base}/login/callback${query}`)).status).toBe(404);
    }
    expect((await browser.logIn(one.link)).text).toContain('You are logged in');
  });

  test('by a second use of what came back finds nothing', async () => {
    await using one = await begun();
    const browser = new LoginBrowser();
    const { url: back } = await browser.follow(await browser.goOn(one.link), /\/login\/callback/);
    expect((await browser.visit(back)).status).toBe(200);
    expect((await browser.visit(back)).status).toBe(404);
    expect((await browser.visit(one.link)).status).toBe(404);
    expect(one.server.counts.get('authorization_code')).toBe(1);
  });

  test('by the browser of somebody else cannot finish it, nor take it over', async () => {
    await using one = await begun();
    const browser = new LoginBrowser();
    const { url: back } = await browser.follow(await browser.goOn(one.link), /\/login\/callback/);
    const stranger = new LoginBrowser();
    expect((await stranger.visit(back)).status).toBe(404);
    const origin = one.base;
    const pressed = await stranger.visit(one.link, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams('do=continue'),
    });
    expect(pressed.status).toBe(404);
    expect(one.server.counts.get('authorization_code')).toBeUndefined();
    expect((await browser.visit(back)).text).toContain('You are logged in');
  });

  test('by a form of another site, or another Host, is refused', async () => {
    await using one = await begun();
    const body = new URLSearchParams('do=continue');
    const headers: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: one.base.replace('http:', 'https:') },
      {},
      { origin: one.base, 'sec-fetch-site': 'cross-site' },
    ];
    for (const given of headers) {
      expect((await new LoginBrowser().visit(one.link, { method: 'POST', headers: given, body })).status).toBe(403);
    }
    expect(one.server.counts.get('registered')).toBeUndefined();
  });

  test('by a code of another issuer is refused, and the user can log in afterwards', async () => {
    await using one = await begun();
    const browser = new LoginBrowser();
    const { url: back } = await browser.follow(await browser.goOn(one.link), /\/login\/callback/);
    const mixed = new URL(back);
    mixed.searchParams.set('iss', 'https://evil.example');
    expect(await browser.visit(mixed.href)).toMatchObject({
      status: 502,
      text: expect.stringContaining('The login failed'),
    });
    expect(one.server.counts.get('authorization_code')).toBeUndefined();
    expect((await browser.logIn(one.link)).text).toContain('You are logged in');
    expect(await textOf(one.client, 'parley_answer', { handle: one.handle })).toBe('hello');
  });
});
