// Tokens for a server in exchange for the token with which a user called the gateway (RFC 8693). The user's token goes to the token
// endpoint of the configuration and nowhere else: neither to the server, nor to what the server names. It keeps the token
// of one account until shortly before it expires.
import * as oauth from 'oauth4webapi';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createGuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import { isLoopbackHost } from '../../../kernel/net/address-kind.ts';
import type { Account } from './account.ts';
import { loginFailure, OAuthRequests } from './oauth-requests.ts';
import type { LoginTokens } from './login-store.ts';
import type { LoginRefusal } from './server-login.ts';
import type { LoginOptions, TokenExchange } from './login-options.ts';

export interface TokenExchangerOptions {
  name: string;
  url: URL;
  login: LoginOptions;
  exchange: TokenExchange;
  account: Account;
}

/** Renewed a little early. */
const EARLY_MS = 10_000;
const MAX_CHARS = 64 * 1024;

export class TokenExchanger {
  readonly #options: TokenExchangerOptions;
  readonly #requests: OAuthRequests;
  #tokens: LoginTokens | undefined;
  #exchanging: Promise<LoginTokens> | undefined;

  constructor(options: TokenExchangerOptions) {
    this.#options = options;
    const { hostname } = new URL(options.exchange.tokenEndpoint);
    // The operator named it, so it may be in the operator's own network.
    const own = { loopback: isLoopbackHost(hostname), hosts: [hostname, ...(options.login.hosts ?? [])] };
    this.#requests = new OAuthRequests(createGuardedFetch(own), () => systemClock.now());
  }

  async headersFor(): Promise<Record<string, string>> {
    const kept = this.#tokens;
    const isGood = kept && (kept.expiresAt === undefined || systemClock.now() < kept.expiresAt - EARLY_MS);
    const { access } = isGood ? kept : await this.#exchange();
    return { authorization: `Bearer ${access}` };
  }

  /** The token may have been revoked; a new one is tried once. */
  refused({ status, sent, tries }: LoginRefusal): boolean {
    if (status !== 401 || tries > 0) return false;
    if (sent?.endsWith(` ${this.#tokens?.access}`)) this.#tokens = undefined;
    return true;
  }

  forget(): void {
    this.#tokens = undefined;
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
    const { url, login, exchange } = this.#options;
    const { clientId = '', clientSecret, scopes } = login;
    const server = { issuer: new URL(exchange.tokenEndpoint).origin, token_endpoint: exchange.tokenEndpoint };
    const auth = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret);
    const party = { server, clientId, auth, resource: exchange.resource ?? url.href, dpop: undefined };
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
