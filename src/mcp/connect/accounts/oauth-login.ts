// The OAuth 2.1 client of one server: logs in when the server refuses a request, renews tokens before they expire, and asks for
// more scopes when the server demands them. Invariants:
// 1. A refresh token is spent once: refreshes of one login are serialized across processes, and the result is kept by compare and
//    set. If it cannot be serialized or kept, nothing is spent.
// 2. An old token is used until it expires, not dropped, while a refresh fails for other reasons than the token itself.
// 3. Tokens and clients belong to one issuer. If the server moves to another, both are obtained again.
// 4. What is configured (a secret, a key, an assertion) goes to one issuer: `auth.issuer`, else the first one. It is bound before it is first sent, for all accounts
//    together, and a change is an error.
// 5. A server that is never satisfied ends the attempts: per request, per person, and per step-up that does not satisfy it. One that is satisfied may
//    ask for more scopes as often as it likes.
import * as oauth from 'oauth4webapi';
import { loggedPrincipal } from '../../../kernel/base/anonymous.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createGuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import type { GuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import { isLoopbackHost } from '../../../kernel/net/address-kind.ts';
import { printableLine } from '../../../kernel/base/visible.ts';
import { readChallenge, discoverAuthority } from './discover-authority.ts';
import type { LoginChallenge, LoginAuthority } from './discover-authority.ts';
import { chooseClient, clientAuth, MARK, redirectFor } from './choose-client.ts';
import { DpopKey } from './dpop-key.ts';
import type { LoginClient, LoginRecord, LoginTokens } from './login-store.ts';
import { OAuthRequests, loginFailure } from './oauth-requests.ts';
import type { TokenParty } from './oauth-requests.ts';
import { isLoginNeeded, loginKey } from './server-login.ts';
import type { LoginAttempt, LoginRefusal, ServerLogin, ServerLoginOptions } from './server-login.ts';
import { TokenRefresh, isStale } from './token-refresh.ts';

/** How often one request is sent again. */
const MAX_TRIES = 3;
/** How often a person is asked without success in between. */
const MAX_LOGINS = 3;
/** How often scopes are asked for again that a login has asked for before: a server that wants them still may never be satisfied. */
const MAX_UNSATISFIED = 1;
/** After this time a person may try again. */
const FORGET_UNSATISFIED_MS = 60 * 60_000;

export class OAuthLogin implements ServerLogin {
  readonly url: URL;
  readonly #options: ServerLoginOptions;
  readonly #key: string;
  readonly #clock: Clock;
  readonly #fetch: GuardedFetch;
  readonly #requests: OAuthRequests;
  readonly #refresh: TokenRefresh;
  readonly #nonces = new Map<string, string>();
  #dpop: DpopKey | undefined;
  #record: LoginRecord | undefined;
  #challenge: LoginChallenge | undefined;
  /** The access token that was refused last. */
  #refused: string | undefined;
  #logins = 0;
  /** Step-ups that did not satisfy the server, by scopes. */
  readonly #unsatisfied = new Map<string, { times: number; since: number }>();
  #interacting: Promise<void> | undefined;

  constructor(options: ServerLoginOptions) {
    this.#options = options;
    this.url = new URL(options.url);
    this.#key = loginKey(this.url, options.login, options.account);
    this.#clock = options.clock ?? systemClock;
    this.#fetch =
      options.fetch ?? createGuardedFetch({ loopback: isLoopbackHost(this.url.hostname), hosts: options.login?.hosts });
    this.#requests = new OAuthRequests(this.#fetch, () => this.#clock.now());
    this.#refresh = new TokenRefresh({
      store: options.store,
      key: this.#key,
      requests: this.#requests,
      party: (record) => this.#partyOf(record),
      log: options.log,
      tell: (outcome, reason) => this.#tell(outcome, reason),
      now: () => this.#clock.now(),
    });
  }

  async headersFor(method: string, url: URL): Promise<Record<string, string>> {
    if (!this.#record && !this.#options.store.has(this.#key)) return {};
    let record = (this.#record ??= await this.#options.store.read(this.#key));
    if (record?.tokens && isStale(record.tokens, this.#clock.now())) {
      record = this.#record = (await this.#refresh.renew(record.tokens.access)) ?? record;
    }
    return record?.tokens ? this.#toHeaders(record, record.tokens, { method, url }) : {};
  }

  accepted(): void {
    this.#logins = 0;
  }

  async refused({ status, headers, sent, tries }: LoginRefusal): Promise<boolean> {
    const challenge = readChallenge(headers);
    if (challenge.nonce !== undefined) this.#nonces.set(this.url.origin, challenge.nonce);
    if (tries >= MAX_TRIES) return false;
    if (challenge.error === 'use_dpop_nonce' && challenge.nonce !== undefined) return true;
    this.#refused = sent?.split(' ').at(-1);
    if (status === 403) return this.#widen(challenge);
    if (await this.#isRenewed(sent)) return true;
    this.#challenge = challenge;
    return this.#logIn(tries);
  }

  async hasFreshTokens(): Promise<boolean> {
    const record = await this.#options.store.read(this.#key);
    return record?.tokens !== undefined && record.tokens.access !== this.#refused;
  }

  async begin(redirectUrl: string, mark = ''): Promise<LoginAttempt> {
    try {
      return await this.#begin(redirectUrl, mark);
    } catch (thrown) {
      throw loginFailure(thrown, this.#options.name);
    }
  }

  async lastRedirectUrl(): Promise<string | undefined> {
    return (await this.#options.store.read(this.#key))?.client.redirectUrl;
  }

  async end(): Promise<void> {
    const { store, log } = this.#options;
    const record = await store.read(this.#key);
    await store.remove(this.#key);
    this.#record = undefined;
    if (!record?.tokens || record.authority['revocation_endpoint'] === undefined) return;
    const { refresh, access } = record.tokens;
    // The tokens are gone here, whatever the authorization server says.
    await this.#requests.revoke(await this.#partyOf(record), refresh ?? access).catch((thrown: unknown) => {
      log?.warn({ reason: loginFailure(thrown, this.#options.name).message }, 'login.not-revoked');
    });
  }

  async settle(thrown: unknown, signal?: AbortSignal): Promise<boolean> {
    const { interact } = this.#options;
    if (!isLoginNeeded(thrown) || !interact) return false;
    if (this.#interacting === undefined && ++this.#logins > MAX_LOGINS) return false;
    // Calls that need a login at the same time wait for the same one.
    this.#interacting ??= interact(this, signal).finally(() => (this.#interacting = undefined));
    await this.#interacting;
    return true;
  }

  /** Whether another request, or another process, has newer tokens than the refused one. */
  async #isRenewed(sent: string | undefined): Promise<boolean> {
    const record = (this.#record = await this.#options.store.read(this.#key));
    if (!record?.tokens) return false;
    if (!sent?.endsWith(` ${record.tokens.access}`)) return true;
    const renewed = await this.#refresh.renew(record.tokens.access, true);
    this.#record = renewed ?? record;
    // The login is still good: nobody has to log in because its server is away for a while.
    const { failure: reason } = this.#refresh;
    if (renewed === undefined && reason !== undefined)
      throw new GatewayError('UPSTREAM_LOGIN_AWAY', { server: this.#options.name, reason });
    return renewed?.tokens !== undefined && renewed.tokens.access !== record.tokens.access;
  }

  /** The server wants further scopes. */
  async #widen(challenge: LoginChallenge): Promise<boolean> {
    if (challenge.error !== 'insufficient_scope' || this.#isUnsatisfied(challenge)) return false;
    this.#challenge = challenge;
    return this.#logIn(0);
  }

  /** Whether a login with these scopes has not helped. */
  #isUnsatisfied({ scope }: LoginChallenge): boolean {
    const asked = new Set(wordsOf(this.#record?.asked));
    const wanted = wordsOf(scope);
    if (wanted.some((one) => !asked.has(one))) return false;
    const key = wanted.toSorted().join(' ');
    const now = this.#clock.now();
    const known = this.#unsatisfied.get(key);
    const isOld = known === undefined || now - known.since > FORGET_UNSATISFIED_MS;
    const entry = isOld ? { times: 0, since: now } : known;
    this.#unsatisfied.set(key, entry);
    return ++entry.times > MAX_UNSATISFIED;
  }

  /** Without a person if the options say how; else throws. */
  async #logIn(tries: number): Promise<boolean> {
    const { login = {}, name } = this.#options;
    if (login.grant === undefined) throw new GatewayError('UPSTREAM_LOGIN_NEEDED', { server: name });
    if (tries > 0) return false; // it has just refused a new token
    try {
      await this.#logInAlone();
      return true;
    } catch (thrown) {
      throw loginFailure(thrown, name);
    }
  }

  async #logInAlone(): Promise<void> {
    const { login = {} } = this.#options;
    const authority = await this.#discover();
    const id = login.clientId ?? login.idp?.clientId ?? '';
    const client: LoginClient = { id, secret: login.clientSecret, kind: 'configured' };
    const party = await this.#party(authority, client);
    const scope = this.#scope(authority, false);
    const tokens = await this.#grant(party, scope);
    await this.#keep({ authority, client, tokens, asked: scope });
  }

  async #grant(party: TokenParty, scope: string | undefined): Promise<LoginTokens> {
    const { grant, assertion, idp } = this.#options.login ?? {};
    if (grant === 'client_credentials') return this.#requests.byClient(party, scope);
    if (grant === 'id_jag' && idp) {
      return this.#requests.byAssertion(party, await this.#requests.identityGrant(idp, party, scope), scope);
    }
    const given = typeof assertion === 'function' ? await assertion() : assertion;
    if (given === undefined) throw new Error(`auth.grant is ${String(grant)}, and what it needs is missing`);
    return this.#requests.byAssertion(party, given, scope);
  }

  async #begin(redirectUrl: string, nodeMark: string): Promise<LoginAttempt> {
    const authority = await this.#discover();
    const { server } = authority;
    if (server.authorization_endpoint === undefined) throw new Error(`${server.issuer} has no page to log in`);
    const { login = {}, name } = this.#options;
    const record = (this.#record = await this.#options.store.read(this.#key));
    const isSame = record?.issuer === server.issuer;
    const { back, mark } = redirectFor(redirectUrl, server, login);
    const client = await chooseClient(
      { server, name, login, redirectUrl: back, earlier: isSame ? record.client : undefined, now: this.#clock.now() },
      this.#requests,
    );
    const party = await this.#party(authority, client);
    const scope = this.#scope(authority, true);
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState() + nodeMark];
    const url = new URL(server.authorization_endpoint);
    const asked = { response_type: 'code', client_id: client.id, redirect_uri: back, scope, state };
    const proof = {
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: authority.resource,
      prompt: scope?.split(' ').includes('offline_access') ? 'consent' : undefined,
    };
    for (const [key, value] of Object.entries({ ...asked, ...proof })) {
      if (value !== undefined) url.searchParams.set(key, value);
    }
    const finish = async (given: URLSearchParams): Promise<void> => {
      try {
        if (mark !== undefined && given.get(MARK) !== mark) throw new Error('the redirect came from another login');
        const parameters = this.#requests.checkRedirect(party, given, state);
        const tokens = await this.#requests.byCode(party, { parameters, redirectUrl: back, verifier });
        await this.#keep({ authority, client, tokens, asked: scope });
      } catch (thrown) {
        throw loginFailure(thrown, name);
      }
    };
    return { url: checkPage(url), state, finish };
  }

  /** In the audit log. */
  #tell(outcome: string, reason?: string): void {
    const { events, name: server, account } = this.#options;
    const principal = account === undefined ? undefined : loggedPrincipal(account);
    events?.tell({ kind: 'login', server, principal, outcome, details: { issuer: this.#record?.issuer, reason } });
  }

  async #discover(): Promise<LoginAuthority> {
    const found = await discoverAuthority(this.url, this.#challenge?.resourceMetadata, this.#fetch);
    await this.#checkIssuer(found.server.issuer);
    return found;
  }

  /** Throws if what is configured is for another issuer. */
  async #checkIssuer(found: string): Promise<void> {
    const { login = {}, name, store } = this.#options;
    const { issuer, clientSecret, clientKey, assertion, grant } = login;
    if ([issuer, clientSecret, clientKey, assertion, grant].every((one) => one === undefined)) return;
    const bound = issuer ?? (await store.bindIssuer(loginKey(this.url, login), await this.#formerIssuer(found)));
    if (withoutSlash(bound) === withoutSlash(found)) return;
    throw new GatewayError('UPSTREAM_ISSUER_CHANGED', { server: name, found: printableLine(found), issuer: bound });
  }

  /** A login of before secrets were bound. */
  async #formerIssuer(found: string): Promise<string> {
    const record = await this.#options.store.read(this.#key);
    return record?.client.kind === 'configured' ? record.issuer : found;
  }

  /**
   * The scopes to ask for: what the server demands, else what it supports, else what is configured; a step-up keeps those of before. Undefined: none, so
   * that the authorization server decides. A refresh token may need its own scope.
   */
  #scope({ scopesSupported, server }: LoginAuthority, refreshes: boolean): string | undefined {
    const supported = scopesSupported?.length ? scopesSupported : this.#options.login?.scopes;
    const earlier = this.#record?.issuer === server.issuer ? this.#record.asked : undefined;
    const scopes = new Set([...wordsOf(earlier), ...wordsOf(this.#challenge?.scope ?? supported?.join(' '))]);
    if (refreshes && server.scopes_supported?.includes('offline_access')) scopes.add('offline_access');
    return scopes.size === 0 ? undefined : [...scopes].join(' ');
  }

  async #party({ server, resource, requiresDpop }: LoginAuthority, client: LoginClient): Promise<TokenParty> {
    const { login = {} } = this.#options;
    const isBound = login.dpop ?? (requiresDpop || this.#challenge?.schemes.includes('dpop') === true);
    if (isBound) this.#dpop ??= await DpopKey.create();
    const auth = await clientAuth(client, server, login);
    return { server, clientId: client.id, auth, resource, dpop: isBound ? this.#dpop?.handle : undefined };
  }

  async #partyOf({ authority, client, resource, key, issuer }: LoginRecord): Promise<TokenParty> {
    const server = authority as unknown as oauth.AuthorizationServer;
    if (client.kind === 'configured') await this.#checkIssuer(issuer);
    const auth = await clientAuth(client, server, this.#options.login ?? {});
    const dpop = key && (await this.#keyOf(key)).handle;
    return { server, clientId: client.id, auth, resource, dpop };
  }

  async #keyOf(jwk: Record<string, unknown>): Promise<DpopKey> {
    if (this.#dpop?.jwk['d'] !== jwk['d']) this.#dpop = await DpopKey.from(jwk);
    return this.#dpop!;
  }

  async #toHeaders(
    { key }: LoginRecord,
    { access, type }: LoginTokens,
    { method, url }: { method: string; url: URL },
  ): Promise<Record<string, string>> {
    if (type !== 'dpop' || key === undefined) return { authorization: `Bearer ${access}` };
    const nonce = this.#nonces.get(url.origin);
    const dpop = await this.#keyOf(key);
    const proof = await dpop.proof({ method, url, token: access, nonce, now: this.#clock.now() });
    return { authorization: `DPoP ${access}`, dpop: proof };
  }

  async #keep(done: {
    authority: LoginAuthority;
    client: LoginClient;
    tokens: LoginTokens;
    asked?: string | undefined;
  }) {
    const { authority, client, tokens, asked } = done;
    const { store } = this.#options;
    for (;;) {
      const stored = await store.read(this.#key);
      const record: LoginRecord = {
        version: (stored?.version ?? 0) + 1,
        server: this.url.origin + this.url.pathname,
        issuer: authority.server.issuer,
        client,
        tokens: { ...tokens, scope: tokens.scope ?? asked },
        asked,
        authority: { ...authority.server },
        resource: authority.resource,
        key: tokens.type === 'dpop' ? this.#dpop?.jwk : undefined,
        account: this.#options.account,
      };
      this.#record = record;
      if (await store.write(this.#key, record, record.version - 1)) return this.#tell('ok');
    }
  }
}

/** A page that a browser may be sent to. */
function checkPage(url: URL): string {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))) return url.href;
  throw new Error(`the page to log in must be https, not ${url.protocol}`);
}

/** Only the slash of an empty path may differ. */
function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

function wordsOf(scope: string | undefined): string[] {
  return scope?.split(' ').filter((word) => word !== '') ?? [];
}
