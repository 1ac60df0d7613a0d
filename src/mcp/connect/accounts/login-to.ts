// The login at a server, of the gateway or of one of its users: by a person, whose tokens are kept by the program or else in memory; by exchanging the
// token with which the user called; or by headers that the program gives.
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import type { Identity } from '../../../kernel/exchange.ts';
import { isAnonymous } from '../../../kernel/base/anonymous.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Address } from '../address.ts';
import { createMemoryLogins } from './login-store.ts';
import type { LoginStore } from './login-store.ts';
import { loginAddress } from './login-address.ts';
import { createServerLogin } from './lazy-login.ts';
import type { ServerLogin } from './server-login.ts';
import type { LoginOptions } from './login-options.ts';
import type { TokenExchanger, TokenExchangerOptions } from './exchanged-login.ts';
import type { Account } from './account.ts';

/** A server that the gateway may have to log in at. */
export interface LoginTarget {
  name: string;
  url: URL;
  login: LoginOptions | undefined;
  /** The principal whose login it is, if every user has one. */
  account?: string | undefined;
  events?: EventHub | undefined;
}

interface LoginToOptions {
  loginFor?: ((server: LoginTarget) => ServerLogin | undefined) | undefined;
  account?: Account | undefined;
  events?: EventHub | undefined;
  /** Where logins are kept that the program does not keep. Default: in memory. */
  store?: LoginStore | undefined;
}

export function loginTo(name: string, address: Address, options: LoginToOptions): ServerLogin | undefined {
  const { loginFor, account, events, store } = options;
  const { url, auth: login } = loginAddress(address) ?? {};
  if (url === undefined || login?.grant === 'token_exchange') return undefined;
  const target: LoginTarget = { name, url, login, events };
  if (account === undefined)
    return loginFor?.(target) ?? (login && createServerLogin({ ...target, store: store ?? createMemoryLogins() }));
  const own = { ...target, account: account.principal };
  // Nobody comes back as an unidentified caller.
  if (isAnonymous(account.principal)) return createServerLogin({ ...own, store: createMemoryLogins() });
  return loginFor?.(own) ?? createServerLogin({ ...own, store: store ?? createMemoryLogins() });
}

/** The login by token exchange, loaded with the first request. */
export function createExchangedLogin(options: Omit<TokenExchangerOptions, 'exchange'>): ServerLogin {
  const { exchange } = options.login;
  if (exchange === undefined || !URL.canParse(exchange.tokenEndpoint)) {
    const reason = 'the grant token_exchange needs exchange.tokenEndpoint, a URL';
    throw new GatewayError('BAD_OPTION', { option: `auth of ${options.name}`, reason });
  }
  let loaded: Promise<TokenExchanger> | undefined;
  const load = (): Promise<TokenExchanger> =>
    (loaded ??= import('./exchanged-login.ts').then(({ TokenExchanger: made }) => new made({ ...options, exchange })));
  return {
    ...withoutPerson(options),
    headersFor: async () => (await load()).headersFor(),
    refused: async (refusal) => (await load()).refused(refusal),
    end: async () => (await loaded)?.forget(),
  };
}

type Headers = Record<string, string>;

/** Headers for the requests of this user to this server, such as `authorization`; undefined for none. Called for every request. */
export type Credentials = (user: Identity, server: string) => Headers | undefined | Promise<Headers | undefined>;

/** The headers that the program gives for a user at a server take the place of a login. */
export function givenCredentials(
  account: Account,
  { name, url, credentials }: { name: string; url: URL; credentials: Credentials },
): ServerLogin {
  return {
    ...withoutPerson({ name, url }),
    async headersFor() {
      const { principal, identity = { principal } } = account;
      const given = (await credentials(identity, name)) ?? {};
      return Object.fromEntries(Object.entries(given).map(([key, value]) => [key.toLowerCase(), value]));
    },
    refused: async () => false,
    end: async () => {},
  };
}

function withoutPerson({ name, url }: { name: string; url: URL }): Omit<ServerLogin, 'headersFor' | 'refused' | 'end'> {
  return {
    url,
    accepted: () => {},
    begin: () => Promise.reject(new GatewayError('UPSTREAM_LOGIN_NEEDED', { server: name })),
    hasFreshTokens: async () => false,
    lastRedirectUrl: async () => undefined,
    settle: async () => false,
  };
}
