// The logins that users of the gateway do in their browsers, for servers that need one. Without a way to tell users apart, any caller
// may log in, for all. Where users are identified, a login that all of them share is not for any of them to do: it is the
// operator's (`parley login`).
import type { Exchange } from '../protocol/exchange.ts';
import type { PagesHost } from '../protocol/target.ts';
import type { Clock } from '../shared/clock.ts';
import type { HttpHandler } from '../shared/http.ts';
import type { Log } from '../shared/log.ts';
import { LoginDesk } from './ask/login/login-desk.ts';
import type { BrowserLogin } from './ask/login/login-desk.ts';
import type { Address } from './upstream/address.ts';
import { loginAddress } from './upstream/login/server-login.ts';
import type { ServerLogin } from './upstream/login/server-login.ts';

export interface AccountLoginsOptions {
  auth?: unknown;
  identify?: unknown;
  publicUrl?: string | undefined;
}

export class AccountLogins {
  readonly #options: AccountLoginsOptions;
  readonly #desk: LoginDesk;

  constructor(options: AccountLoginsOptions, around: { log: Log; clock: Clock; host(): PagesHost }) {
    this.#options = options;
    this.#desk = new LoginDesk(around);
  }

  get pages(): Readonly<Record<string, HttpHandler>> {
    return this.#desk.pages;
  }

  /** Lets the user of a call log in; undefined if the users of this gateway may not, or if no person is needed. */
  askerFor(server: string, address: Address, login: ServerLogin): ((exchange: Exchange) => Promise<void>) | undefined {
    const { auth, identify } = this.#options;
    if (auth !== undefined || identify !== undefined) return undefined;
    if (loginAddress(address)?.auth?.grant !== undefined) return undefined;
    const question = { desk: this.#desk, server, login: this.#toBrowserLogin(server, address, login) };
    return async (exchange) => {
      const { askForLogin } = await import('./ask/login/ask-login.ts');
      await askForLogin(exchange, question);
    };
  }

  close(): void {
    this.#desk.close();
  }

  /** A client that was registered by hand has a redirect to a port of this machine, unless the gateway has a public URL. */
  #toBrowserLogin(name: string, address: Address, login: ServerLogin): BrowserLogin {
    const { clientId, callbackPort: port } = loginAddress(address)?.auth ?? {};
    if (clientId === undefined || this.#options.publicUrl !== undefined) return login;
    let earlier: AbortController | undefined;
    return {
      async begin() {
        earlier?.abort();
        const { signal } = (earlier = new AbortController());
        const { logInOnLoopback } = await import('./upstream/login/loopback-login.ts');
        let finished = Promise.resolve();
        const url = await new Promise<string>((open, reject) => {
          finished = logInOnLoopback(login, { name, port, open, signal });
          finished.catch(reject);
        });
        return { url, state: '', finish: () => Promise.reject(new Error('this login ends elsewhere')), finished };
      },
    };
  }
}
