// The logins of this user, kept in the state folder for all commands. Until a login is used, only the existence of a file is checked.
import { join } from 'node:path';
import { isLoopback } from '../../mcp/listen/guard.ts';
import { hasLoginFile } from '../../mcp/connect/accounts/login-store.ts';
import type { LoginStore } from '../../mcp/connect/accounts/login-store.ts';
import type { LoginTarget } from '../../mcp/connect/accounts/login-to.ts';
import { createServerLogin } from '../../mcp/connect/accounts/lazy-login.ts';
import type {
  ServerLogin,
  ServerLoginOptions,
  LoginAttempt,
  LoginRefusal,
} from '../../mcp/connect/accounts/server-login.ts';
import type { Log } from '../../kernel/base/log.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';

interface OwnLoginOptions {
  log: Log;
  /** Where it is kept. Default: in the state folder of this user. */
  store?: LoginStore | undefined;
  /** Shows the link to a person. Without it, the error says how to log in. */
  show?: ((link: string) => unknown) | undefined;
  /** Called when somebody has logged in, or nobody did in time. */
  done?: (() => unknown) | undefined;
}

/** The login at a server, shared with the other commands of this user. */
export function ownLogin(
  target: LoginTarget,
  { log, store = ownLogins(log), show, done }: OwnLoginOptions,
): ServerLogin {
  const { name, login } = target;
  const interact: ServerLoginOptions['interact'] =
    show &&
    (async (at, signal) => {
      const { logInOnLoopback } = await import('../../mcp/connect/accounts/loopback-login.ts');
      const options = { open: show, name, port: login?.callbackPort, signal };
      await logInOnLoopback(at, options).finally(() => done?.());
    });
  const made = createServerLogin({ ...target, store, interact, log });
  return isLoopback(made.url.hostname) ? new OwnGatewayLogin(made) : made;
}

export function ownLoginFolder(): string {
  return join(ownStateFolder(), 'logins');
}

export function ownLogins(log: Log): LoginStore {
  const stateFolder = ownStateFolder();
  const folder = ownLoginFolder();
  let loaded: Promise<LoginStore> | undefined;
  const load = (): Promise<LoginStore> => (loaded ??= openFiles(stateFolder, folder, log));
  return {
    has: (key) => hasLoginFile(folder, key),
    read: async (key) => (await load()).read(key),
    write: async (key, next, version) => (await load()).write(key, next, version),
    remove: async (key) => (await load()).remove(key),
    keys: async () => (await load()).keys(),
    bindIssuer: async (key, issuer) => (await load()).bindIssuer(key, issuer),
    unbindIssuer: async (key) => (await load()).unbindIssuer(key),
    exclusively: async (key, work) => (await load()).exclusively(key, work),
  };
}

async function openFiles(stateFolder: string, folder: string, log: Log): Promise<LoginStore> {
  const { createFileLogins } = await import('../../mcp/connect/accounts/file-logins.ts');
  const { createSealer } = await import('../../kernel/crypto/seal.ts');
  const { loginKeys } = await import('./login-keys.ts');
  return createFileLogins({ folder, sealer: createSealer((await loginKeys(stateFolder, log)).keys) });
}

/** The gateway has just answered, so it will: on a busy machine that takes its time. */
const ANSWER_MS = 30_000;

/**
 * A server on this machine may be a gateway of this user, which asks for the user's token. It gets the token when it refuses a request; every other
 * server is left to its own login.
 */
class OwnGatewayLogin implements ServerLogin {
  readonly #login: ServerLogin;
  #authorization: string | undefined;

  constructor(login: ServerLogin) {
    this.#login = login;
  }

  get url(): URL {
    return this.#login.url;
  }

  headersFor(method: string, url: URL): Promise<Record<string, string>> | undefined {
    if (this.#authorization === undefined || url.origin !== this.url.origin) return this.#login.headersFor(method, url);
    return Promise.resolve({ authorization: this.#authorization });
  }

  async refused(refusal: LoginRefusal): Promise<boolean> {
    const { status, sent, tries } = refusal;
    if (status !== 401 || tries > 0) return this.#login.refused(refusal);
    const { tokenFor } = await import('../running/token-for-url.ts');
    const token = await tokenFor(this.url, ANSWER_MS);
    this.#authorization = token && `Bearer ${token}`;
    if (this.#authorization !== undefined && this.#authorization !== sent) return true;
    return this.#login.refused(refusal);
  }

  accepted(): void {
    this.#login.accepted();
  }

  hasFreshTokens(): Promise<boolean> {
    return this.#login.hasFreshTokens();
  }

  begin(redirectUrl: string, mark?: string): Promise<LoginAttempt> {
    return this.#login.begin(redirectUrl, mark);
  }

  lastRedirectUrl(): Promise<string | undefined> {
    return this.#login.lastRedirectUrl();
  }

  end(): Promise<void> {
    return this.#login.end();
  }

  settle(thrown: unknown, signal?: AbortSignal): Promise<boolean> {
    return this.#login.settle(thrown, signal);
  }
}
