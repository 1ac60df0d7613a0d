// The login of the gateway (or of `connect`) at one server, as its HTTP connections see it. This file loads nothing of OAuth: that
// happens when the server refuses a request, when a login is configured, or when tokens of an earlier login are stored.
import type { RecordAudit } from '../../../kernel/audit.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { GuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Address } from '../address.ts';
import type { HttpHeaders } from '../http/http-exchange.ts';
import type { LoginStore } from './login-store.ts';

/** How to log in at a server. Without any of it, the server's own metadata decides and a person logs in. */
export interface LoginOptions {
  /** A client that was registered by hand at the authorization server. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** A private key (PKCS #8, PEM) instead of a secret, with its algorithm (default ES256) and id. */
  clientKey?: string | (() => string | Promise<string>) | undefined;
  clientKeyAlgorithm?: string | undefined;
  clientKeyId?: string | undefined;
  /** The https URL of a client-id metadata document; used where the authorization server supports them. */
  clientMetadataUrl?: string | undefined;
  /**
   * The issuer that the secret, key or assertion is for: it is sent to no other. Default: the first one that the server names, which is remembered with the
   * logins; a change is an error.
   */
  issuer?: string | undefined;
  /** Scopes to ask for, if the server does not name any. */
  scopes?: readonly string[] | undefined;
  /**
   * Default: a person logs in with a browser. `client_credentials`: the client itself. `jwt_bearer`: `assertion` is exchanged.
   * `id_jag`: an enterprise identity provider (`idp`) vouches for the user. `token_exchange`: the token with which a user called
   * the gateway is exchanged (`exchange`), for each user.
   */
  grant?: 'client_credentials' | 'jwt_bearer' | 'id_jag' | 'token_exchange' | undefined;
  /** A JWT of the platform that runs this process. */
  assertion?: string | (() => string | Promise<string>) | undefined;
  idp?: EnterpriseLogin | undefined;
  exchange?: TokenExchange | undefined;
  /** Bind tokens to a key (DPoP). Default: if the server demands it. */
  dpop?: boolean | undefined;
  /** The loopback port of the redirect, if the client was registered with one. */
  callbackPort?: number | undefined;
  /** Hosts of the login that may have private addresses. */
  hosts?: readonly string[] | undefined;
}

/** The identity provider of a company, which issues grants for servers (ID-JAG). */
export interface EnterpriseLogin {
  /** Its token endpoint. */
  tokenEndpoint: string;
  clientId: string;
  clientSecret?: string | undefined;
  /** The ID token of the user. */
  idToken: string | (() => string | Promise<string>);
}

/** Where a user's token is exchanged for one of a server (RFC 8693). */
export interface TokenExchange {
  tokenEndpoint: string;
  /** Whom the token is for. Default: `resource`. */
  audience?: string | undefined;
  /** Default: the URL of the server. */
  resource?: string | undefined;
}

/** A server's refusal of one request. */
export interface LoginRefusal {
  status: number;
  headers: HttpHeaders;
  /** The Authorization header of the refused request. */
  sent: string | undefined;
  /** How often this request has been refused before. */
  tries: number;
}

/** What a person has to do: open `url`, which leads back to the redirect URL with parameters for `finish`. */
export interface LoginAttempt {
  url: string;
  /** In the parameters of the redirect, to tell attempts apart. */
  state: string;
  finish(parameters: URLSearchParams): Promise<void>;
}

export interface ServerLogin {
  readonly url: URL;
  /** The headers of the next request; undefined if there was no login. */
  headersFor(method: string, url: URL): Promise<Record<string, string>> | undefined;
  /** Resolves with whether to send the request again; rejects if a person has to log in, or if the login failed. */
  refused(refusal: LoginRefusal): Promise<boolean>;
  /** The server took a request. */
  accepted(): void;
  /** Begins a login by a person, who will come back to this URL. */
  begin(redirectUrl: string): Promise<LoginAttempt>;
  /** The redirect URL of the last registration, which the next login should use again. */
  lastRedirectUrl(): Promise<string | undefined>;
  /** Revokes the tokens where that is possible, and forgets them. */
  end(): Promise<void>;
  /** Lets a person log in if the error says that one is needed, and if there is a way to. Resolves with whether to try again. */
  settle(thrown: unknown, signal?: AbortSignal): Promise<boolean>;
}

export interface ServerLoginOptions {
  /** The URL of the MCP server. */
  url: string | URL;
  /** For messages: the configured name, or the URL. */
  name: string;
  login?: LoginOptions | undefined;
  /** Whose login it is, if every user has one. */
  account?: string | undefined;
  store: LoginStore;
  /** Lets a person log in; resolves when done. Without it, an error says that a login is needed. */
  interact?: ((login: ServerLogin, signal?: AbortSignal) => Promise<void>) | undefined;
  clock?: Clock | undefined;
  log?: Log | undefined;
  audit?: RecordAudit | undefined;
  /** Tests pass their own. */
  fetch?: GuardedFetch | undefined;
}

export function createServerLogin(options: ServerLoginOptions): ServerLogin {
  return new LazyServerLogin(options);
}

class LazyServerLogin implements ServerLogin {
  readonly url: URL;
  readonly #options: ServerLoginOptions;
  #loaded: Promise<ServerLogin> | undefined;
  #login: ServerLogin | undefined;
  #isKnown = false;

  constructor(options: ServerLoginOptions) {
    this.#options = options;
    this.url = new URL(options.url);
    this.#isKnown = options.store.has(loginKey(this.url, options.login, options.account));
  }

  headersFor(method: string, url: URL): Promise<Record<string, string>> | undefined {
    if (!this.#isKnown) return undefined;
    return this.#load().then(async (login) => (await login.headersFor(method, url)) ?? {});
  }

  async refused(refusal: LoginRefusal): Promise<boolean> {
    this.#isKnown = true;
    return (await this.#load()).refused(refusal);
  }

  accepted(): void {
    this.#login?.accepted();
  }

  async begin(redirectUrl: string): Promise<LoginAttempt> {
    this.#isKnown = true;
    return (await this.#load()).begin(redirectUrl);
  }

  async lastRedirectUrl(): Promise<string | undefined> {
    return (await this.#load()).lastRedirectUrl();
  }

  async end(): Promise<void> {
    return (await this.#load()).end();
  }

  async settle(thrown: unknown, signal?: AbortSignal): Promise<boolean> {
    return this.#isKnown && (await this.#load()).settle(thrown, signal);
  }

  #load(): Promise<ServerLogin> {
    this.#loaded ??= import('./oauth-login.ts').then(({ OAuthLogin }) => (this.#login = new OAuthLogin(this.#options)));
    return this.#loaded;
  }
}

/** The URL and login of an address with HTTP; undefined for others. */
export function loginAddress(address: Address): { url: URL; auth: LoginOptions | undefined } | undefined {
  const isBare = typeof address === 'string' || address instanceof URL;
  const { url, auth } = isBare ? { url: address, auth: undefined } : 'url' in address ? address : {};
  if (url === undefined || !/^https?:/i.test(String(url)) || !URL.canParse(String(url))) return undefined;
  return { url: new URL(url), auth };
}

/** Logins are kept by server, client and account: another client id is another login. */
export function loginKey(url: URL, login: LoginOptions = {}, account?: string): string {
  const { clientId, idp, grant } = login;
  const key = [url.origin + url.pathname + url.search, grant ?? '', clientId ?? idp?.clientId ?? '']
    .join(' ')
    .trimEnd();
  return account === undefined ? key : `${key} ${JSON.stringify({ account })}`;
}

export function isLoginNeeded(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code === 'UPSTREAM_LOGIN_NEEDED';
}

const LOGIN_ERRORS: ReadonlySet<string> = new Set([
  'UPSTREAM_LOGIN_NEEDED',
  'UPSTREAM_LOGIN_FAILED',
  'UPSTREAM_LOGIN_AWAY',
]);

/** A request that fails so was turned away by the server, or never sent. */
export function isLoginError(thrown: unknown): boolean {
  return thrown instanceof GatewayError && LOGIN_ERRORS.has(thrown.code);
}
