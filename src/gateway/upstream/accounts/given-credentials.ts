// The headers that the program gives for a user at a server. They take the place of a login.
import type { Identity } from '../../../protocol/exchange.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { LoginAttempt, ServerLogin } from '../login/server-login.ts';
import type { Account } from './account-target.ts';

type Headers = Record<string, string>;

/** Headers for the requests of this user to this server, such as `authorization`; undefined for none. Called for every request. */
export type Credentials = (user: Identity, server: string) => Headers | undefined | Promise<Headers | undefined>;

export function givenCredentials(
  account: Account,
  { name, url, credentials }: { name: string; url: URL; credentials: Credentials },
): ServerLogin {
  return {
    url,
    async headersFor() {
      const { principal, identity = { principal } } = account;
      const given = (await credentials(identity, name)) ?? {};
      return Object.fromEntries(Object.entries(given).map(([key, value]) => [key.toLowerCase(), value]));
    },
    refused: async () => false,
    accepted: () => {},
    begin: (): Promise<LoginAttempt> => Promise.reject(new GatewayError('UPSTREAM_LOGIN_NEEDED', { server: name })),
    lastRedirectUrl: async () => undefined,
    end: async () => {},
    settle: async () => false,
  };
}
