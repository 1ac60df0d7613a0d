// Clients of both official SDKs log in at a gateway with their own OAuth code: discovery, registration, PKCE, tokens, refresh. The issuer is a
// real oidc-provider.
import { afterEach, describe, expect, it } from 'vitest';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createGateway, createServer } from 'mcp-parley';
import { createCookieFetch } from '../../mcpjam/cookie-fetch.mjs';
import { startIssuer } from '../../mcpjam/issuer.mjs';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serving() {
  const hello = createServer({ name: 'hello', version: '1.0.0' });
  hello.tool('hello', { description: 'Says hello' }, () => 'hello');
  let url = '';
  const issuing = await startIssuer({ resource: () => url });
  closing.push(() => issuing.close());
  const gateway = createGateway({ servers: { hello }, auth: { issuers: [issuing.issuer], scopes: ['mcp'] } });
  closing.push(() => gateway.close());
  ({ url } = await gateway.listen({ port: 0 }));
  return { url };
}

const REDIRECT = 'http://127.0.0.1:33418/callback';

/** What both SDKs ask of a program: to keep things, and to send a person to a page. */
function createPerson() {
  const kept: { client?: object; tokens?: object; verifier?: string; back?: URLSearchParams; visits: number } = {
    visits: 0,
  };
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'test',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: object) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier!,
    redirectToAuthorization: async (page: URL) => {
      kept.visits++;
      kept.back = await codeAt(page.href);
    },
  };
  return { kept, provider };
}

/** Follows the pages as a browser does, up to the redirect of the client. */
async function codeAt(page: string): Promise<URLSearchParams> {
  const open = createCookieFetch();
  let at = page;
  for (let hops = 0; hops < 20; hops++) {
    const next = (await open(at, { redirect: 'manual' })).headers.get('location');
    if (next === null) break;
    at = new URL(next, at).href;
    if (at.startsWith(REDIRECT)) return new URL(at).searchParams;
  }
  throw new Error(`no code came back from ${page}`);
}

interface OneClient {
  make: (url: string, provider: object) => HttpV1 | HttpV2;
  /** Hands over what came back with the redirect. */
  finish: (transport: HttpV1 | HttpV2, back: URLSearchParams) => Promise<void>;
  connect: (transport: HttpV1 | HttpV2) => Promise<Connected>;
}

interface Connected {
  call: (name: string) => Promise<unknown>;
  close: () => Promise<void>;
}

const clients: [string, OneClient][] = [
  [
    'SDK v1',
    {
      make: (url, authProvider) => new HttpV1(new URL(url), { authProvider: authProvider as never }),
      finish: (transport, back) => (transport as HttpV1).finishAuth(back.get('code')!),
      async connect(transport) {
        const client = new ClientV1({ name: 'v1', version: '1' });
        await client.connect(transport);
        return { call: (name) => client.callTool({ name, arguments: {} }), close: () => client.close() };
      },
    },
  ],
  [
    'SDK v2',
    {
      make: (url, authProvider) => new HttpV2(new URL(url), { authProvider: authProvider as never }),
      finish: (transport, back) => (transport as HttpV2).finishAuth(back),
      async connect(transport) {
        const client = new ClientV2({ name: 'v2', version: '1' });
        await client.connect(transport);
        return { call: (name) => client.callTool({ name, arguments: {} }), close: () => client.close() };
      },
    },
  ],
];

describe.each(clients)('a client of %s', (_, { make, finish, connect }) => {
  it('logs in at a gateway with its own code, and calls a tool', async () => {
    const { url } = await serving();
    const { kept, provider } = createPerson();
    const first = make(url, provider);
    await expect(connect(first)).rejects.toThrow(/unauthorized/i);
    expect(kept.visits).toBe(1);
    expect(kept.back?.get('error_description') ?? kept.back?.get('error')).toBeNull();
    await finish(first, kept.back!);
    const client = await connect(make(url, provider));
    closing.push(() => client.close());
    expect(await client.call('hello__hello')).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
    expect(kept.visits).toBe(1);
  });

  it('gets a new token by itself when the gateway no longer takes the old one', async () => {
    const { url } = await serving();
    const { kept, provider } = createPerson();
    const first = make(url, provider);
    await expect(connect(first)).rejects.toThrow(/unauthorized/i);
    expect(kept.back?.get('error_description') ?? kept.back?.get('error')).toBeNull();
    await finish(first, kept.back!);
    kept.tokens = { ...kept.tokens, access_token: 'no.longer.good' };
    const client = await connect(make(url, provider));
    closing.push(() => client.close());
    expect(await client.call('hello__hello')).toMatchObject({ content: [{ text: 'hello' }] });
    expect(kept.visits).toBe(1);
  });
});
