// A login at a server that a person has to finish in a browser, and what its pages need.
import type { EventHub } from '../../kernel/events/event-hub.ts';
import type { PagesHost } from '../../kernel/target.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import type { GatewayError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';

export const LOGIN_PATH = '/login';
export const CALLBACK_PATH = '/login/callback';

/** A login that begins with a page of the authorization server. */
export interface BrowserLogin {
  /** `redirectUrl`: where the authorization server sends the browser back to; `mark`: what its state ends in. */
  begin(redirectUrl: string, mark?: string): Promise<BrowserAttempt>;
}

export interface BrowserAttempt {
  /** The page of the authorization server. */
  url: string;
  /** Names the attempt in the parameters that come back; empty if they come back elsewhere. */
  state: string;
  finish(parameters: URLSearchParams): Promise<void>;
  /** Resolves if the login ends elsewhere, at a port of its own. */
  finished?: Promise<void> | undefined;
}

/** Who logs in where. */
export interface LoginSubject {
  /** The configured name. */
  server: string;
  principal: string;
  /** The principal as people know it; undefined if nobody was identified. */
  user: string | undefined;
}

export interface OpenLogin extends LoginSubject {
  /** The secret part of the link. */
  readonly id: string;
  readonly login: BrowserLogin;
  /** Resolves when somebody has logged in; rejects when the time is up. */
  readonly done: Promise<void>;
  end(error?: GatewayError): void;
  /** The secret of the browser that continued first. */
  browser?: string | undefined;
  /** Only the newest can be finished, and once. */
  attempt?: BrowserAttempt | undefined;
}

export interface LoginDeskOptions {
  host(): PagesHost;
  /** What links and states end in, so that the node is found that waits for the login; may be empty. */
  mark: string;
  clock: Clock;
  log: Log;
  events?: EventHub | undefined;
}

/** The logins under way, as their pages find and end them. */
export interface OpenLogins {
  readonly options: LoginDeskOptions;
  byId(id: string): OpenLogin | undefined;
  byState(state: string): OpenLogin | undefined;
  /** Somebody has logged in: everybody who waits for the same account continues. */
  finish(login: OpenLogin): void;
}
