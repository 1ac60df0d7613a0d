// The login of `connect` at a server behind a URL. It lives as long as the connection.
import type { Address } from '../gateway/upstream/address.ts';
import { createMemoryLogins } from '../gateway/upstream/login/login-store.ts';
import { createServerLogin, loginAddress } from '../gateway/upstream/login/server-login.ts';
import type { ServerLogin } from '../gateway/upstream/login/server-login.ts';
import type { LoopbackLoginOptions } from '../gateway/upstream/login/loopback-login.ts';
import type { Log } from '../shared/log.ts';
import type { ConnectOptions } from './types.ts';

/** Undefined if nothing says how to log in. */
export function loginAt(address: Address, { onLogin }: ConnectOptions, log?: Log): ServerLogin | undefined {
  const { url, auth } = loginAddress(address) ?? {};
  if (url === undefined || (auth === undefined && onLogin === undefined)) return undefined;
  const name = url.origin + url.pathname;
  return createServerLogin({
    url,
    name,
    login: auth,
    store: createMemoryLogins(),
    log,
    interact: onLogin && ((login, signal) => byLink(login, { open: onLogin, name, port: auth?.callbackPort, signal })),
  });
}

async function byLink(login: ServerLogin, options: LoopbackLoginOptions): Promise<void> {
  const { logInOnLoopback } = await import('../gateway/upstream/login/loopback-login.ts');
  await logInOnLoopback(login, options);
}
