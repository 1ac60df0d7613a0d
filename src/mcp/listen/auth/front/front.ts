// An authorization server in front of an identity provider at which clients cannot register (Entra, Google, Okta): clients register here, or have
// a document that describes them; a person agrees to each of them, and logs in at the identity provider. The tokens are ours, and for our URLs alone.
// The engine is oidc-provider, which has to be installed next to Parley (`loadFrontEngine`).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { Configuration, KoaContextWithOIDC, errors as Errors } from 'oidc-provider';
import type { EventHub } from '../../../../kernel/events/event-hub.ts';
import type { LoadFrontPages } from '../../../../kernel/login-pages.ts';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { addressOf } from '../../../../kernel/base/http.ts';
import { networkOf } from '../../../../kernel/net/network.ts';
import { createGuardedFetch } from '../../../../kernel/net/guarded-fetch.ts';
import type { Log } from '../../../../kernel/base/log.ts';
import { createSealer } from '../../../../kernel/crypto/seal.ts';
import { isResource } from '../well-known.ts';
import { FRONT_PATH, loadFrontEngine } from '../auth-options.ts';
import type { FrontOptions } from '../auth-options.ts';
import { Consent } from './consent.ts';
import type { State } from '../../../../kernel/state/state.ts';
import { createStateFrontStore, sharedFrontKeys } from './front-state.ts';
import { frontKeys, toPublic, FrontAdapter, createFrontStore } from './front-store.ts';
import type { FrontKeys, FrontStore } from './front-store.ts';
import { OpenVisits, Registrations, checkVisit, isRedirectAllowed } from './stranger-limits.ts';
import { PersonLogin } from './person-login.ts';
import type { PersonClaims } from './person-login.ts';
import { ACCESS_S, JWT_BEARER, addAssertionGrant, toResourceServer } from './assertion-grant.ts';
import type { NodeVisit } from './node-visit.ts';

interface FrontContext {
  clock: Clock;
  log: Log;
  events?: EventHub | undefined;
  /** What gateways share; undefined: nothing. */
  state?: State | undefined;
  pages: LoadFrontPages;
  /** The URL of /mcp. */
  endpoint: string;
  /** What clients may ask for. */
  scopes: readonly string[];
  /** For documents of clients; tests pass their own. */
  fetch?: typeof fetch | undefined;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const REFRESH_S = 14 * 86_400;
const DAY_S = 86_400;
/** How long documents of clients are kept: as their headers say, within these. One login reads its document several times. */
const DOCUMENT_S = { min: 5, max: 3600 };
/** Asked for where a client asks for nothing. */
const DEFAULT_SCOPE = 'mcp';

export class Front {
  readonly issuer: string;
  readonly #consent: Consent;
  readonly #handle: Handle;
  readonly #keys: FrontKeys;
  readonly #scope: string;
  readonly #registrations: Registrations;

  constructor(
    provider: Provider,
    { consent, keys, scopes, clock }: { consent: Consent; keys: FrontKeys; scopes: readonly string[]; clock: Clock },
  ) {
    this.issuer = provider.issuer;
    this.#consent = consent;
    this.#handle = provider.callback();
    this.#keys = keys;
    this.#scope = scopes.join(' ');
    this.#registrations = new Registrations(clock);
  }

  /** What verifies its tokens, without a request to ourselves. */
  get jwks() {
    return { keys: [toPublic(this.#keys.signing)] };
  }

  /** `path`: behind the path of this authorization server. */
  async handle(path: string, { request, response }: NodeVisit): Promise<void> {
    if (path === '/reg' && request.method === 'POST') this.#registrations.count(addressOf(request) ?? '');
    const query = /\?.*$/.exec(request.url ?? '')?.[0] ?? '';
    if (path === '/auth') checkVisit(request.method, query, this.issuer);
    const mounted = new URL(this.issuer).pathname;
    const wanted = path === '/auth' ? withScope(path + query, this.#scope) : path + query;
    // Its URLs come from its own address, whatever Host or proxies say.
    const { host, protocol } = new URL(this.issuer);
    for (const name of Object.keys(request.headers)) if (name.startsWith('x-forwarded-')) delete request.headers[name];
    request.headers.host = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.url = mounted + wanted;
    if (await this.#consent.handle(path, { request, response })) return;
    Object.assign(request, { originalUrl: mounted + wanted });
    request.url = wanted;
    await this.#handle(request, response);
  }
}

export async function createFront(options: FrontOptions, context: FrontContext): Promise<Front> {
  const { clock, log, endpoint } = context;
  const scopes = context.scopes.length > 0 ? context.scopes : [DEFAULT_SCOPE];
  const issuer = endpoint.slice(0, endpoint.lastIndexOf('/')) + FRONT_PATH;
  const shared = context.state?.isShared ? context.state : undefined;
  const keys = await (shared ? sharedFrontKeys(shared) : frontKeys(options.folder));
  const sealer = createSealer([keys.records]);
  const store = shared ? createStateFrontStore(shared, sealer, clock) : createFrontStore(options.folder, sealer);
  const accounts = new FrontAdapter('Account', store, clock);
  const { default: Engine, errors } = await loadFrontEngine();
  const provider = new Engine(
    issuer,
    configure(options, { ...context, scopes, issuer, keys, store, accounts, errors }),
  );
  // Nobody has agreed yet that a browser is sent to this client, so not even an error sends it there.
  provider.on('authorization.error', (ctx, error) => {
    if (ctx.oidc.route === 'authorization') Object.assign(error, { allow_redirect: false });
  });
  provider.proxy = true; // of the headers that it believes then, only ours are left
  if (options.assertions?.length) {
    const rules = { issuers: options.assertions, audience: issuer, store, clock, log };
    addAssertionGrant(provider, { ...rules, endpoint, scopes, issuer: options.issuer, accounts, errors });
  }
  const consent = new Consent({
    provider,
    clock,
    log,
    events: context.events,
    issuer,
    endpoint,
    grantable: scopes,
    sealer,
    person: new PersonLogin(options, `${issuer}/callback`),
    pages: await context.pages(),
    attempts: new FrontAdapter('Attempt', store, clock),
    keep: (claims) => keepAccount(accounts, claims, options),
  });
  return new Front(provider, { consent, keys, scopes, clock });
}

/** What the engine is configured with. */
interface EngineParts extends FrontContext {
  issuer: string;
  keys: FrontKeys;
  store: FrontStore;
  accounts: FrontAdapter;
  errors: typeof Errors;
}

function configure(options: FrontOptions, parts: EngineParts): Configuration {
  const { issuer, endpoint, scopes, store, clock, errors } = parts;
  const resourceServer = (_: unknown, resource: string) => {
    if (!isResource(resource, endpoint)) throw new errors.InvalidTarget();
    return toResourceServer(resource, scopes.join(' '));
  };
  return {
    ...behaviour(parts),
    clients: toClients(options),
    extraClientMetadata: {
      properties: ['redirect_uris'],
      validator: (_, __, redirects, { client_id: id }) => {
        if (options.clients?.some(({ clientId }) => clientId === id)) return;
        const isAllowed = [redirects].flat().every((one) => isRedirectAllowed(String(one), issuer));
        if (!isAllowed) throw new errors.InvalidClientMetadata('a redirect is to https, this machine or an app');
      },
    },
    adapter: (kind: string) => new FrontAdapter(kind, store, clock),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      revocation: { enabled: true },
      dPoP: { enabled: true },
      registration: { enabled: true },
      pushedAuthorizationRequests: { enabled: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02', cacheDuration: DOCUMENT_S },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => endpoint,
        useGrantedResource: () => true,
        getResourceServerInfo: resourceServer,
      },
    },
  };
}

/** What is not about features. */
function behaviour({ issuer, keys, scopes, accounts, store, clock, fetch: ownFetch }: EngineParts): Configuration {
  const visits = new OpenVisits();
  const interactions = new FrontAdapter('Interaction', store, clock);
  const cookie = { signed: true, httpOnly: true, sameSite: 'lax' as const };
  const guarded = createGuardedFetch({ maxBytes: 64 * 1024, timeoutMs: 2500 });
  return {
    jwks: { keys: [keys.signing] },
    cookies: { keys: [keys.cookies], long: cookie, short: cookie },
    scopes: ['openid', 'offline_access', ...scopes],
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    rotateRefreshToken: true,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    ttl: {
      AccessToken: ACCESS_S,
      AuthorizationCode: 60,
      IdToken: ACCESS_S,
      Interaction: 600,
      Session: DAY_S,
      Grant: REFRESH_S,
      RefreshToken: REFRESH_S,
    },
    findAccount: async (_, id) =>
      (await accounts.find(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined,
    interactions: {
      async url({ req }, { uid }) {
        const dropped = visits.begin(networkOf(addressOf(req) ?? ''), uid);
        if (dropped !== undefined) await interactions.destroy(dropped);
        return `${new URL(issuer).pathname}/interaction/${uid}`;
      },
    },
    extraTokenClaims: async (_, token) => claimsFor(accounts, token),
    renderError,
    fetch: (ownFetch ?? ((url: string | URL, init: object) => guarded(url, init))) as never,
  };
}

async function keepAccount(accounts: FrontAdapter, claims: PersonClaims, options: FrontOptions): Promise<string> {
  const { sub, name, email } = claims;
  const groups = claims[options.groupsClaim ?? 'groups'];
  await accounts.upsert(sub, { account: { name, email, groups } }, REFRESH_S + DAY_S);
  return sub;
}

/** What steps learn about the person, besides `sub`. */
async function claimsFor(accounts: FrontAdapter, token: object): Promise<Record<string, string> | undefined> {
  const { accountId } = token as { accountId?: string };
  const found = accountId === undefined ? undefined : await accounts.find(accountId);
  return (found as { account?: Record<string, string> } | undefined)?.account;
}

function toClients({ clients = [], assertions = [] }: FrontOptions): Configuration['clients'] {
  const grants = assertions.length > 0 ? [JWT_BEARER] : [];
  return clients.map(({ clientId, clientSecret, name, redirects = [] }) => ({
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uris: [...redirects],
    response_types: redirects.length > 0 ? ['code'] : [],
    grant_types: [...(redirects.length > 0 ? ['authorization_code', 'refresh_token'] : []), ...grants],
    token_endpoint_auth_method: 'client_secret_basic',
    ...(name !== undefined && { client_name: name }),
  })) as Configuration['clients'];
}

/** None of our pages shows text that somebody has put into a link. */
function renderError(ctx: KoaContextWithOIDC, { error }: { error: string }): void {
  if (ctx.status < 400) ctx.status = 400;
  ctx.type = 'text/plain';
  ctx.set('x-frame-options', 'DENY');
  ctx.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  ctx.body = `This link does not work (${error.replace(/[^\w]/g, '')}). Go back to your program and try again.\n`;
}

/** Clients may leave out what they want. */
function withScope(path: string, scope: string): string {
  const [bare, query = ''] = path.split('?', 2);
  const asked = new URLSearchParams(query);
  if (asked.has('scope')) return path;
  asked.set('scope', scope);
  return `${bare}?${asked.toString()}`;
}
