// Official clients before a gateway whose server needs a login: each is asked in the way that it understands, and its call goes on. The
// authorization server is a real oidc-provider.
import { afterEach, describe, expect, it } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import { LoginBrowser } from '../../helpers/login-browser.ts';
import { startOidcServer } from '../../helpers/oidc-server.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving() {
  const server = await startOidcServer();
  closing.push(() => server[Symbol.asyncDispose]());
  const log = createLog({ level: 'silent' });
  const gateway = createGateway({ servers: { guarded: { url: server.url, auth: {} } }, log });
  closing.push(() => gateway.close());
  return { server, url: (await gateway.listen({ port: 0 })).url };
}

const linkIn = (text: string) => /http:\S+?\/login\?t=[\w-]+/.exec(text)![0];

describe.each(KINDS)('a client of %s', (kind) => {
  it.each([
    ['that opens pages', { url: {} }, { mode: 'url' }],
    ['that has forms only', { form: {} }, { requestedSchema: { properties: {} } }],
  ])('%s is asked, and its call goes on', async (_, capability, shape) => {
    const { server, url } = await serving();
    const asked: object[] = [];
    const answer = async (params: object) => {
      asked.push(params);
      await new LoginBrowser().logIn(linkIn(JSON.stringify(params)));
      return { action: 'accept' as const, content: {} };
    };
    await using sdk = await connectSdk(kind, url, { elicitation: { capability, answer } });
    expect((await sdk.client.listTools()).tools.map(({ name }) => name)).toEqual(['login']);
    expect(await sdk.call('account')).toBe('ada');
    expect(asked).toHaveLength(1);
    expect(asked).toMatchObject([shape]);
    expect((await sdk.client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami', 'account']);
    expect(server.counts.get('page')).toBe(1);
    expect(sdk.errors).toEqual([]);
  });

  it('that cannot be asked gets the link as text, and its call continues', async () => {
    const { url } = await serving();
    await using sdk = await connectSdk(kind, url);
    const words = await sdk.call('account');
    expect(words).toContain('Give the user this link');
    await new LoginBrowser().logIn(linkIn(words));
    const handle = /handle\W+([\w.-]{8,})/.exec(words)?.[1];
    expect(await sdk.call('parley_answer', { handle })).toBe('ada');
    expect(await sdk.call('account')).toBe('ada');
  });

  it('whose user refuses gets an error with the link', async () => {
    const { server, url } = await serving();
    const answer = async () => ({ action: 'decline' as const });
    await using sdk = await connectSdk(kind, url, { elicitation: { capability: { url: {} }, answer } });
    const said = await sdk.call('account').catch((error: Error) => error.message);
    expect(said).toMatch(/guarded needs a login.*\/login\?t=/s);
    expect(server.counts.get('page')).toBeUndefined();
  });
});
