// Tokens for a server in exchange for the token with which a user called the gateway (RFC 8693). The user's token goes to the token
// endpoint of the configuration and nowhere else: neither to the server, nor to what the server names. It keeps the token
// of one account until shortly before it expires.
import * as oauth from 'oauth4webapi';
import type { Account } from '../accounts/account-target.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { createGuardedFetch } from '../../../shared/net/guarded-fetch.ts';
import type { GuardedFetch } from '../../../shared/net/guarded-fetch.ts';
import { isLoopbackHost } from '../../../shared/net/address-kind.ts';
import { loginFailure } from './login-failure.ts';
import type { LoginTokens } from './login-store.ts';
import { OAuthRequests } from './oauth-requests.ts';
import type { LoginAttempt, LoginRefusal, LoginOptions, ServerLogin, TokenExchange } from './server-login.ts';

export interface ExchangedLoginOptions {
  name: string;
  url: URL;
  login: LoginOptions & { exchange: TokenExchange };
  account: Account;
  clock?: Clock | undefined;
  fetch?: GuardedFetch | undefined;
}

/** Renewed a little early. */
const EARLY_MS = 10_000;
const MAX_CHARS = 64 * 1024;

export class ExchangedLogin implements ServerLogin {
  readonly url: URL;
  readonly #options: ExchangedLoginOptions;
  readonly #clock: Clock;
  readonly #requests: OAuthRequests;
  #tokens: LoginTokens | undefined;
  #exchanging: Promise<LoginTokens> | undefined;

  constructor(options: ExchangedLoginOptions) {
    this.#options = options;
    this.url = options.url;
    this.#clock = options.clock ?? systemClock;
    const { tokenEndpoint } = options.login.exchange;
    const { hostname } = new URL(tokenEndpoint);
    // The operator named it, so it may be in the operator's own network.
    const own = { loopback: isLoopbackHost(hostname), hosts: [hostname, ...(options.login.hosts ?? [])] };
    this.#requests = new OAuthRequests(options.fetch ?? createGuardedFetch(own), () => this.#clock.now());
  }

  async headersFor(): Promise<Record<string, string>> {
    const kept = this.#tokens;
    const isGood = kept && (kept.expiresAt === undefined || this.#clock.now() < kept.expiresAt - EARLY_MS);
    const { access } = isGood ? kept : await this.#exchange();
    return { authorization: `Bearer ${access}` };
  }

  /** The token may have been revoked; a new one is tried once. */
  async refused({ status, sent, tries }: LoginRefusal): Promise<boolean> {
    if (status !== 401 || tries > 0) return false;
    if (sent?.endsWith(` ${this.#tokens?.access}`)) this.#tokens = undefined;
    return true;
  }

  accepted(): void {}

  begin(): Promise<LoginAttempt> {
    return Promise.reject(new GatewayError('UPSTREAM_LOGIN_NEEDED', { server: this.#options.name }));
  }

  async lastRedirectUrl(): Promise<undefined> {}

  async end(): Promise<void> {
    this.#tokens = undefined;
  }

  async settle(): Promise<boolean> {
    return false;
  }

  #exchange(): Promise<LoginTokens> {
    this.#exchanging ??= this.#ask()
      .then((tokens) => (this.#tokens = tokens))
      .catch((thrown: unknown) => {
        throw loginFailure(thrown, this.#options.name);
      })
      .finally(() => (this.#exchanging = undefined));
    return this.#exchanging;
  }

  async #ask(): Promise<LoginTokens> {
    const { exchange, clientId = '', clientSecret, scopes } = this.#options.login;
    const server = { issuer: new URL(exchange.tokenEndpoint).origin, token_endpoint: exchange.tokenEndpoint };
    const auth = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret);
    const party = { server, clientId, auth, resource: exchange.resource ?? this.url.href, dpop: undefined };
    const asked = { subject: this.#subject(), audience: exchange.audience, scope: scopes?.join(' ') };
    return this.#requests.byExchange(party, asked);
  }

  /** Only a token of an issuer: an API key of this gateway means nothing elsewhere. */
  #subject(): string {
    const { identity, authorization = '' } = this.#options.account;
    const [, token] = /^Bearer ([^\s]+)$/i.exec(authorization) ?? [];
    if (identity?.issuer !== undefined && token !== undefined && token.length <= MAX_CHARS) return token;
    throw new Error('the caller has no token that could be exchanged');
  }
}
