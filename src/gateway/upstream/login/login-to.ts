// The login of a gateway at one of its servers, or that of one of its users: kept by the program, else in memory.
import type { RecordAudit } from '../../../protocol/audit.ts';
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
  audit?: RecordAudit | undefined;
}

export interface LoginToOptions {
  loginFor?: ((server: LoginTarget) => ServerLogin | undefined) | undefined;
  account?: Account | undefined;
  audit?: RecordAudit | undefined;
}

export function loginTo(name: string, address: Address, options: LoginToOptions): ServerLogin | undefined {
  const { loginFor, account, audit } = options;
  const { url, auth: login } = loginAddress(address) ?? {};
  if (url === undefined || login?.grant === 'token_exchange') return undefined;
  const target: LoginTarget = { name, url, login, audit };
  if (account === undefined)
    return loginFor?.(target) ?? (login && createServerLogin({ ...target, store: createMemoryLogins() }));
  const own = { ...target, account: account.principal };
  // Nobody comes back as an unidentified caller.
  const kept = isAnonymous(account.principal) ? undefined : loginFor?.(own);
  return kept ?? createServerLogin({ ...own, store: createMemoryLogins() });
}
