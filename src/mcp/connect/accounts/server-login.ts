// The login of the gateway (or of `connect`) at one server, as its HTTP connections see it.
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { GuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { HttpHeaders } from '../http/http-response.ts';
import type { LoginStore } from './login-store.ts';
import type { LoginOptions } from './login-options.ts';

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
  /** Whether there are tokens that have not been refused: another gateway, or another process, may have logged in. */
  hasFreshTokens(): Promise<boolean>;
  /** Begins a login by a person, who will come back to this URL. */
  begin(redirectUrl: string, mark?: string): Promise<LoginAttempt>;
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
  events?: EventHub | undefined;
  /** Tests pass their own. */
  fetch?: GuardedFetch | undefined;
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
