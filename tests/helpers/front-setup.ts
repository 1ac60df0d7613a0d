// A gateway with an authorization server in front of an identity provider (a real oidc-provider) at which clients cannot register, and a
// browser without a screen.
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import Provider from 'oidc-provider';
import { createGateway, createServer } from 'mcp-parley';
import type { Gateway, GatewayOptions, State } from 'mcp-parley';
import { signIn } from './sign-in-page.ts';

export interface FrontSetup extends AsyncDisposable {
  url: string;
  /** Of the authorization server in front. */
  front: string;
  idp: string;
  /** The requests for a login that the identity provider got. */
  asked: URL[];
  /** Who logs in there. */
  person: { sub: string };
  /** Ends the gateway, and opens it again on the same port. */
  restart(): Promise<void>;
  /** Another gateway for the same public URL, as behind a load balancer, at a port of its own. */
  another(): Promise<{ url: string; front: string }>;
}

type Front = NonNullable<NonNullable<GatewayOptions['auth']>['front']>;

export interface FrontSetupOptions {
  front?: Partial<Front>;
  auth?: GatewayOptions['auth'];
  groups?: string[];
  audit?: GatewayOptions['audit'];
  /** People say on a page of the identity provider who they are. */
  pages?: boolean;
  /** What each gateway shares with the others. */
  state?: () => Promise<State>;
}

export async function startFront({
  front = {},
  auth = {},
  groups,
  audit,
  pages = false,
  state,
}: FrontSetupOptions = {}): Promise<FrontSetup> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const asked: URL[] = [];
  const person = { sub: 'ada' };
  const { idp, close } = await startIdp({ base, asked, person, groups, pages });
  const states: State[] = [];
  const open = async (at = port) => {
    const shared = await state?.();
    if (shared) states.push(shared);
    const hello = createServer({ name: 'hello', version: '1.0.0' });
    hello.tool('whoami', {}, (_, call) => JSON.stringify(call.client.connection?.identity?.principal ?? null));
    const gateway = createGateway({
      servers: { hello },
      publicUrl: base,
      audit,
      ...(shared && { state: shared }),
      auth: {
        ...auth,
        front: { issuer: idp, clientId: 'gateway', clientSecret: 'the-secret-of-the-gateway', ...front },
      },
    });
    await gateway.listen({ port: at });
    return gateway;
  };
  let gateway = await open();
  const others: Gateway[] = [];
  return {
    url: `${base}/mcp`,
    front: `${base}/oauth`,
    idp,
    asked,
    person,
    async restart() {
      await gateway.close();
      gateway = await open();
    },
    async another() {
      const at = await freePort();
      others.push(await open(at));
      return { url: `http://127.0.0.1:${at}/mcp`, front: `http://127.0.0.1:${at}/oauth` };
    },
    async [Symbol.asyncDispose]() {
      for (const one of [gateway, ...others]) await one.close();
      for (const one of states) await one.close();
      close();
    },
  };
}

/** A company's identity provider: it knows the gateway, registers nobody, and everybody is logged in. */
export async function startIdp({ base, asked = [], person, groups, pages = false, keys }: Idp) {
  const server = createHttpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const idp = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(idp, {
    clients: [
      {
        client_id: 'gateway',
        client_secret: 'the-secret-of-the-gateway',
        redirect_uris: [`${base}/oauth/callback`, `${base}/ask/callback`],
        token_endpoint_auth_method: 'client_secret_post',
        application_type: 'native',
      },
    ],
    claims: { profile: ['name', 'groups'], email: ['email', 'email_verified'] },
    ...(keys && { jwks: { keys } }),
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `Name of ${id}`, email: `${id}@example.com`, email_verified: true, groups }),
    }),
    interactions: { url: (_, { uid }) => `/agree/${uid}` },
  });
  const own = provider.callback();
  let tokens = 0;
  server.on('request', (request, response) => {
    const url = new URL(request.url!, idp);
    if (url.pathname === '/auth') asked.push(url);
    if (url.pathname === '/token') tokens++;
    if (!url.pathname.startsWith('/agree/')) return void own(request, response);
    void provider.interactionDetails(request, response).then(async ({ prompt, params, session }) => {
      if (prompt.name === 'login') {
        const accountId = pages ? await signIn(request, response) : person.sub;
        if (accountId === undefined) return;
        return provider.interactionFinished(request, response, { login: { accountId } });
      }
      const grant = new provider.Grant({ accountId: session!.accountId, clientId: String(params['client_id']) });
      grant.addOIDCScope(String(params['scope']));
      const consent = { grantId: await grant.save() };
      return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
    });
  });
  return { idp, tokenRequests: () => tokens, close: () => server.close().closeAllConnections() };
}

interface Idp {
  /** Of the gateway. */
  base: string;
  asked?: URL[];
  person: { sub: string };
  groups?: string[] | undefined;
  pages?: boolean;
  /** With which it signs. */
  keys?: JWK[];
}

export interface Answer {
  status: number;
  url: string;
  text: string;
  headers: Headers;
}

/** Cookies by host and path, redirects, and the header `refresh`, as browsers do. Stops before URLs that start with `stop`. */
export class Browser {
  readonly cookies = new Map<string, { value: string; path: string; host: string }>();

  async open(link: string, { stop, form }: { stop?: string; form?: Record<string, string> } = {}): Promise<Answer> {
    let url = link;
    let body = form;
    for (let hops = 0; hops < 30; hops++) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: this.#cookiesFor(url), ...(body && { origin: new URL(url).origin }) },
        ...(body && { method: 'POST', body: new URLSearchParams(body) }),
      });
      this.#keep(url, response);
      const text = await response.text();
      const refresh = /url=(.*)$/.exec(response.headers.get('refresh') ?? '')?.[1];
      const next = response.headers.get('location') ?? refresh;
      if (next === undefined || next === null) return { status: response.status, url, text, headers: response.headers };
      url = new URL(next, url).href;
      body = undefined as never;
      if (stop !== undefined && url.startsWith(stop)) return { status: 302, url, text, headers: response.headers };
    }
    throw new Error('too many redirects');
  }

  /** Presses a button of the consent page. */
  async decide(page: Answer, what: 'allow' | 'deny', stop?: string): Promise<Answer> {
    const token = /name="token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    return this.open(page.url, { form: { token, do: what }, ...(stop !== undefined && { stop }) });
  }

  #cookiesFor(url: string): string {
    const { host, pathname } = new URL(url);
    return [...this.cookies]
      .filter(([, cookie]) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');
  }

  #keep(url: string, response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /path=([^;]+)/i.exec(line)?.[1] ?? '/';
      const { host } = new URL(url);
      if (value === '') this.cookies.delete(`${name} ${path}`);
      else this.cookies.set(`${name} ${path}`, { value, path, host });
    }
  }
}

export const REDIRECT = 'http://127.0.0.1:33418/callback';
export const VERIFIER = 'a-verifier-that-is-long-enough-for-pkce-0123456789';

export async function register(
  front: string,
  metadata: object = {},
): Promise<Record<string, unknown> & { status: number }> {
  const response = await fetch(`${front}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Some client', redirect_uris: [REDIRECT], ...metadata }),
  });
  return { ...((await response.json()) as object), status: response.status };
}

export async function authorizeLink(
  front: string,
  clientId: string,
  more: Record<string, string> = {},
): Promise<string> {
  const { createHash } = await import('node:crypto');
  const url = new URL(`${front}/auth`);
  const all = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'state-of-the-client',
    ...more,
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}

export async function exchange(front: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${front}/token`, { method: 'POST', body: new URLSearchParams(form), headers });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

export function byCode(clientId: string, back: string): Record<string, string> {
  const code = new URL(back).searchParams.get('code') ?? '';
  return {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createHttpServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
