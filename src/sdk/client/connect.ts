// Connects to a server: a URL, a command to run, or an official SDK Transport. Detects era, dialect and transport unless they are given.
import type { Address } from '../../mcp/connect/address.ts';
import { connectServer } from '../../mcp/connect/connected-server.ts';
import type { ConnectedServer } from '../../mcp/connect/connected-server.ts';
import { createMemoryLogins } from '../../mcp/connect/accounts/login-store.ts';
import { loginAddress } from '../../mcp/connect/accounts/login-address.ts';
import { createServerLogin } from '../../mcp/connect/accounts/lazy-login.ts';
import type { ServerLogin } from '../../mcp/connect/accounts/server-login.ts';
import { toSafeLog } from '../../kernel/base/log.ts';
import { version as ownVersion } from '../../kernel/version.ts';
import { AskResponder } from './ask-responder.ts';
import { Client } from './client.ts';
import { Listeners } from './listeners.ts';
import type { ConnectOptions } from './types.ts';

/**
 * Connects to a server. Rejects with GatewayError, or with ProtocolError if the server answered with an error.
 *
 * @example
 * ```ts
 * import { connect } from 'mcp-parley';
 *
 * const client = await connect('http://127.0.0.1:8471/mcp'); // or { command: 'npx', args: ['-y', 'some-server'] }
 * const { content } = await client.callTool('time');
 * console.log(content);
 * await client.close();
 * ```
 */
export function connect(address: Address, options: ConnectOptions = {}): Promise<Client> {
  return connectAs(address, options, loginAt(address, options));
}

/** The same with a login that outlives the connection. */
export async function connectAs(
  address: Address,
  options: ConnectOptions,
  login: ServerLogin | undefined,
): Promise<Client> {
  const { name = 'mcp-parley', version = ownVersion(), revision, limits } = options;
  const log = toSafeLog(options.log);
  const { timeoutMs, maxTimeoutMs, probeMs, prefer } = options;
  let opening: Promise<ConnectedServer | undefined> = Promise.resolve(undefined);
  const answers = new AskResponder(options, async () => (await opening.catch(() => undefined))?.server.info);
  const listeners = new Listeners(log);
  const opened = connectServer(address, {
    info: { name, version },
    capabilities: answers.capabilities,
    events: {
      onAsk: (ask, signal) => answers.answer(ask, signal),
      onChange: (change) => listeners.tell(change),
      onNotice: ({ method, params }) => listeners.tell({ kind: 'notification', method, params }),
    },
    onClose: (reason) => listeners.close(reason),
    revision,
    prefer,
    timeoutMs,
    maxTimeoutMs,
    probeMs,
    limits,
    log,
    login,
  });
  opening = opened;
  return new Client(await opened, { answers, listeners, log });
}

/** The login at a server behind a URL, which lives as long as the connection. Undefined if nothing says how to log in. */
function loginAt(address: Address, { onLogin, log }: ConnectOptions): ServerLogin | undefined {
  const { url, auth } = loginAddress(address) ?? {};
  if (url === undefined || (auth === undefined && onLogin === undefined)) return undefined;
  const name = url.origin + url.pathname;
  return createServerLogin({
    url,
    name,
    login: auth,
    store: createMemoryLogins(),
    log,
    interact:
      onLogin &&
      (async (login, signal) => {
        const { logInOnLoopback } = await import('../../mcp/connect/accounts/loopback-login.ts');
        await logInOnLoopback(login, { open: onLogin, name, port: auth?.callbackPort, signal });
      }),
  });
}
