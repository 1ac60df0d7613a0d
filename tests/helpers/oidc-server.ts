// A real authorization server (oidc-provider) and a real MCP server that wants its tokens, on loopback ports. A person who follows
// the link is logged in and consents at once, or says who they are on a page first (`pages`).
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import { createServer as createMcpServer } from 'mcp-parley';
import { signIn } from './sign-in-page.ts';

export interface OidcServer extends AsyncDisposable {
  issuer: string;
  /** The MCP server. */
  url: string;
  /** The resource metadata, to be changed. */
  metadata: Record<string, unknown>;
  /** How often what happened, such as `code`, `refresh`, `revoked`, `page`. */
  counts: Map<string, number>;
  /** The Authorization headers that the MCP server got. */
  seen: string[];
  /** The scopes that the MCP server wants of every request from now on. */
  needs: string;
  provider: Provider;
  /** Ends all tokens and grants. */
  revokeAll(): Promise<void>;
  /** What a person does with the link. */
  visit(link: string): Promise<string>;
}

type AsyncListener = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

/** Why the guard turns a request away. */
export interface Refusal {
  status: number;
  challenge: string;
}

export interface OidcServerOptions {
  /** In seconds, which tokens count as whole ones: one of a single second may have ended when it arrives. */
  accessTtl?: number;
  scopes?: string[];
  /** People say who they are on a page. */
  pages?: boolean;
  configuration?: Configuration;
  /** The MCP server behind the guard, in place of our own. It gets refused requests as well. */
  serve?: (request: IncomingMessage, response: ServerResponse, refusal: Refusal | undefined) => unknown;
}

export async function startOidcServer(options: OidcServerOptions = {}): Promise<OidcServer> {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const seen: string[] = [];
  const front = await listen();
  const back = await listen();
  const issuer = `http://127.0.0.1:${portOf(front)}`;
  const url = `http://127.0.0.1:${portOf(back)}/mcp`;
  const provider = createProvider(issuer, url, options);
  provider.on('grant.success', (ctx) => count(String(ctx.oidc.params?.['grant_type'])));
  provider.on('grant.error', (_, error) => count(`error:${error.message}`));
  provider.on('grant.revoked', () => count('revoked'));
  provider.on('registration_create.success', () => count('registered'));
  const own = provider.callback();
  const grants = new Set<string>();
  front.on('request', (request, response) => {
    if (/\/auth\?/.test(request.url ?? '')) count('page');
    void (request.url?.startsWith('/agree/')
      ? agree(provider, grants, options.pages)(request, response)
      : own(request, response));
  });

  const mcp = createMcpServer({ name: 'guarded', version: '1.0.0' });
  mcp.tool('whoami', { description: 'Says hello' }, async () => 'hello');
  mcp.tool('account', { description: 'Names the account of the token' }, async (_, call) => {
    const { authorization = '' } = call.client.connection?.headers ?? {};
    return String((await provider.AccessToken.find(String(authorization).replace(/^Bearer /, '')))?.accountId);
  });
  const endpoint = mcp.endpoint();
  const metadata: Record<string, unknown> = {
    resource: url,
    authorization_servers: [issuer],
    scopes_supported: options.scopes ?? ['mcp', 'offline_access'],
  };
  const handle: AsyncListener = async (request, response) => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
    }
    const where = `http://127.0.0.1:${portOf(back)}/.well-known/oauth-protected-resource/mcp`;
    const refusal = refusalOf(await scopesOf(request, provider, seen), made.needs, where);
    if (options.serve) return options.serve(request, response, refusal);
    if (refusal) return response.writeHead(refusal.status, { 'www-authenticate': refusal.challenge }).end();
    return endpoint.handle(request, response);
  };
  back.on('request', (request, response) => void handle(request, response));

  const made: OidcServer = {
    issuer,
    url,
    metadata,
    counts,
    seen,
    needs: '',
    provider,
    visit,
    async revokeAll() {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
    },
    async [Symbol.asyncDispose]() {
      await mcp.close();
      for (const server of [front, back]) server.close().closeAllConnections();
    },
  };
  return made;
}

function refusalOf(scopes: Set<string> | undefined, needs: string, where: string): Refusal | undefined {
  if (!scopes) return { status: 401, challenge: `Bearer resource_metadata="${where}"` };
  if (needs.split(' ').every((scope) => scope === '' || scopes.has(scope))) return undefined;
  return {
    status: 403,
    challenge: `Bearer error="insufficient_scope", scope="${needs}", resource_metadata="${where}"`,
  };
}

/** Follows redirects with cookies, as a browser does; returns the last page. */
async function visit(link: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = link;
  for (let hops = 0; hops < 20; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null) return response.text();
    url = new URL(next, url).href;
  }
  throw new Error('too many redirects');
}

function createProvider(
  issuer: string,
  resource: string,
  { accessTtl = 3600, configuration }: OidcServerOptions,
): Provider {
  return new Provider(issuer, {
    clients: [],
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'mcp', 'mcp:admin', 'mcp:read', 'mcp:write'],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'mcp mcp:admin mcp:read mcp:write',
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: accessTtl,
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: { Grant: 86_400, Session: 86_400, RefreshToken: 86_400, Interaction: 600, IdToken: 3600 },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, { uid }) => `/agree/${uid}` },
    ...configuration,
  });
}

/** Everybody is logged in, as the person of a cookie or as ada, and agrees. `pages`: as the person of a form. */
function agree(provider: Provider, grants: Set<string>, pages = false): AsyncListener {
  return async (request, response) => {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      const [, known = 'ada'] = /(?:^|; )person=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
      const person = pages ? await signIn(request, response) : known;
      if (person === undefined) return;
      return provider.interactionFinished(request, response, { login: { accountId: person } });
    }
    const earlier = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant =
      earlier ?? new provider.Grant({ accountId: session!.accountId, clientId: String(params['client_id']) });
    const scope = String(params['scope'] ?? '');
    grant.addOIDCScope(scope);
    for (const resource of [params['resource'] ?? []].flat()) grant.addResourceScope(String(resource), scope);
    const id = await grant.save();
    grants.add(id);
    return provider.interactionFinished(
      request,
      response,
      { consent: { grantId: id } },
      { mergeWithLastSubmission: true },
    );
  };
}

/** Undefined without a good token. */
async function scopesOf(request: IncomingMessage, provider: Provider, seen: string[]) {
  const { authorization = '' } = request.headers;
  seen.push(authorization);
  const sent = authorization.replace(/^Bearer /, '');
  const own = await provider.AccessToken.find(sent);
  const token = own ?? (await provider.ClientCredentials.find(sent));
  if (token === undefined || token.isExpired) return undefined;
  if (own && !(await provider.Grant.find(own.grantId))) return undefined;
  return token.scopes;
}

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
