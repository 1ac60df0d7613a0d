// The login of a gateway at one of its servers, or that of one of its users: kept by the program, else in memory.
import type { Account } from '../accounts/account-target.ts';
import type { Address } from '../address.ts';
import { isAnonymous } from '../../../shared/anonymous.ts';
import { createMemoryLogins } from './login-store.ts';
import { createServerLogin, loginAddress } from './server-login.ts';
import type { LoginOptions, ServerLogin } from './server-login.ts';

/** A server that the gateway may have to log in at. */
export interface LoginTarget {
  name: string;
  url: URL;
  login: LoginOptions | undefined;
  /** The principal whose login it is, if every user has one. */
  account?: string | undefined;
}

export function loginTo(
  name: string,
  address: Address,
  {
    loginFor,
    account,
  }: { loginFor?: ((server: LoginTarget) => ServerLogin | undefined) | undefined; account?: Account | undefined },
): ServerLogin | undefined {
  const { url, auth: login } = loginAddress(address) ?? {};
  if (url === undefined || login?.grant === 'token_exchange') return undefined;
  if (account === undefined) {
    return (
      loginFor?.({ name, url, login }) ??
      (login && createServerLogin({ url, name, login, store: createMemoryLogins() }))
    );
  }
  const { principal } = account;
  // Nobody comes back as an unidentified caller.
  const kept = isAnonymous(principal) ? undefined : loginFor?.({ name, url, login, account: principal });
  return kept ?? createServerLogin({ url, name, login, account: principal, store: createMemoryLogins() });
}
