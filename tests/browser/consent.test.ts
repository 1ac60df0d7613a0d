// People agree to clients on the page of an authorization server in front, with a real Chromium. The clients log in with the code of the
// official SDK, and the identity provider is a real oidc-provider at which no client can register.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { startFront } from '../helpers/front-setup.ts';
import type { FrontSetup } from '../helpers/front-setup.ts';
import { until, within } from '../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from './chromium.ts';
import type { Tab } from './chromium.ts';

const { open, closing } = browserOfTests();

async function frontWithPages(): Promise<FrontSetup> {
  const setup = await startFront({ pages: true, auth: { scopes: ['mcp'] } });
  closing.push(async () => setup[Symbol.asyncDispose]());
  return setup;
}

/** A program with a callback of its own, which keeps what the SDK wants kept. */
async function program(name: string, url: string) {
  const backs: URLSearchParams[] = [];
  const listener = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1');
    if (pathname === '/callback') backs.push(searchParams);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<link rel="icon" href="data:,"><title>Back</title><h1>Back in the program</h1>');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  closing.push(async () => listener.close().closeAllConnections());
  const redirectUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;
  const kept: { client?: object; tokens?: object; verifier?: string; page?: string } = {};
  const authProvider = {
    redirectUrl,
    clientMetadata: { client_name: name, redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client: object) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier!,
    redirectToAuthorization: (page: URL) => void (kept.page = page.href),
  } as never;
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
  return {
    redirect: new URL(redirectUrl).host,
    /** The page that its person should open. */
    async begin(): Promise<{ page: string; finish: () => Promise<Record<string, string>> }> {
      const first = transport();
      await expect(new Client({ name, version: '1' }).connect(first)).rejects.toThrow(/unauthorized/i);
      const finish = async (): Promise<Record<string, string>> => {
        const back = await until('what comes back', () => backs.shift());
        if (back.has('code')) await first.finishAuth(back);
        return Object.fromEntries(back);
      };
      return { page: kept.page!, finish };
    },
    /** Who the gateway says it acts for. */
    async whoami(): Promise<string> {
      const client = new Client({ name, version: '1' });
      closing.push(() => client.close());
      await within('connect', client.connect(transport()));
      const { content } = await client.callTool({ name: 'hello__whoami', arguments: {} });
      return (content as { text: string }[])[0]!.text;
    },
  };
}

async function shown(tab: Tab, page: string, name: string): Promise<void> {
  await tab.page.goto(page);
  await tab.page.getByRole('heading', { name: 'Allow access?' }).waitFor();
  expect(await tab.page.getByText(name, { exact: true }).count()).toBe(1);
  expect(await violations(tab)).toEqual([]);
}

async function signInAs({ page }: Tab, name: string): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describe.skipIf(chromiumPath === undefined)('a person', () => {
  it.each(['light', 'dark'] as const)('agrees to two clients, one after the other (%s)', async (colorScheme) => {
    const { url, front, asked } = await frontWithPages();
    const tab = await open({ colorScheme, viewport: { width: 760, height: 640 } });
    const notes = await program('Notes', url);
    const first = await notes.begin();
    await shown(tab, first.page, 'Notes');
    expect(await tab.page.content()).toContain(notes.redirect);
    expect(asked).toEqual([]);
    await tab.page.getByRole('button', { name: 'Allow and log in' }).click();
    await signInAs(tab, 'ada');
    await tab.page.getByRole('heading', { name: 'Back in the program' }).waitFor();
    expect(await first.finish()).toMatchObject({ code: expect.any(String), iss: front });
    expect(await notes.whoami()).toContain(`${front}#ada`);

    // The person is logged in here and there; the second client still needs their word.
    const mail = await program('Mail', url);
    const second = await mail.begin();
    await shown(tab, second.page, 'Mail');
    await tab.page.getByRole('button', { name: 'Refuse' }).click();
    await tab.page.getByRole('heading', { name: 'Back in the program' }).waitFor();
    expect(await second.finish()).toMatchObject({ error: 'access_denied' });
    const third = await mail.begin();
    await shown(tab, third.page, 'Mail');
    await tab.page.keyboard.press('Tab');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Back in the program' }).waitFor();
    expect(await third.finish()).toMatchObject({ code: expect.any(String) });
    expect(await mail.whoami()).toContain(`${front}#ada`);
    expect(tab.complaints).toEqual([]);
  });

  it('agrees without scripts on a narrow screen, and another browser cannot take the page over', async () => {
    const { url, asked } = await frontWithPages();
    const notes = await program('Notes', url);
    const { page, finish } = await notes.begin();
    const tab = await open({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    await shown(tab, page, 'Notes');
    const stranger = await open();
    await stranger.page.goto(tab.page.url());
    await stranger.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await tab.page.getByRole('button', { name: 'Allow and log in' }).click();
    await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(asked).toHaveLength(1);
    await signInAs(tab, 'bob');
    await tab.page.getByRole('heading', { name: 'Back in the program' }).waitFor();
    expect(await finish()).toMatchObject({ code: expect.any(String) });
    expect(await notes.whoami()).toContain('#bob');
  });
});
