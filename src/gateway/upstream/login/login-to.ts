// The login of a gateway at one of its servers: the program's own, or one that lives in memory if the address says how to log in.
import type { Address } from '../address.ts';
import { createMemoryLogins } from './login-store.ts';
import { createServerLogin, loginAddress } from './server-login.ts';
import type { LoginOptions, ServerLogin } from './server-login.ts';

/** A server that the gateway may have to log in at. */
export interface LoginTarget {
  name: string;
  url: URL;
  login: LoginOptions | undefined;
}

export function loginTo(
  name: string,
  address: Address,
  loginFor?: (server: LoginTarget) => ServerLogin | undefined,
): ServerLogin | undefined {
  const { url, auth: login } = loginAddress(address) ?? {};
  if (url === undefined) return undefined;
  const given = loginFor?.({ name, url, login });
  return given ?? (login && createServerLogin({ url, name, login, store: createMemoryLogins() }));
}
