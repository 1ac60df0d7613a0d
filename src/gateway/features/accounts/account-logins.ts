// The logins of the gateway and of its users at servers, and who is asked for one. Without a way to tell users apart, any caller may log
// in, for all; so may a caller with the token of the gateway, as the user who runs it. Where users are identified, a login that all of them share
// is not for any of them to do: it is the operator's (`parley login`); a login of their own is theirs.
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpHandler } from '../../../kernel/base/http.ts';
import { LoginDesk } from '../../../people/login/login-desk.ts';
import type { BrowserLogin, LoginDeskOptions } from '../../../people/login/open-login.ts';
import { givenCredentials, loginTo, createExchangedLogin } from '../../../mcp/connect/accounts/login-to.ts';
import type { Credentials, LoginTarget } from '../../../mcp/connect/accounts/login-to.ts';
import type { Account } from '../../../mcp/connect/accounts/account.ts';
import type { Address } from '../../../mcp/connect/address.ts';
import { loginAddress } from '../../../mcp/connect/accounts/login-address.ts';
import type { LoginStore } from '../../../mcp/connect/accounts/login-store.ts';
import type { ServerLogin } from '../../../mcp/connect/accounts/server-login.ts';
import type { UpstreamTargetOptions } from '../../servers/target-options.ts';

interface AccountLoginsOptions {
  auth?: { token?: string | undefined } | undefined;
  identify?: unknown;
  publicUrl?: string | undefined;
  loginFor?: ((server: LoginTarget) => ServerLogin | undefined) | undefined;
  credentials?: Credentials | undefined;
}

export class AccountLogins {
  readonly #options: AccountLoginsOptions;
  readonly #desk: LoginDesk;
  readonly #events: EventHub | undefined;
  readonly #store: LoginStore | undefined;

  /** `store`: where logins are kept that the program does not keep. */
  constructor(
    options: AccountLoginsOptions,
    { store, ...around }: LoginDeskOptions & { store?: LoginStore | undefined },
  ) {
    this.#store = store;
    this.#options = options;
    this.#events = around.events;
    this.#desk = new LoginDesk(around);
  }

  get pages(): Readonly<Record<string, HttpHandler>> {
    return this.#desk.pages;
  }

  /** Whether every user has an account at this server. Throws if users cannot be told apart. */
  isPerUser(name: string, address: Address, wanted: 'user' | 'shared' | undefined): boolean {
    const { url, auth } = loginAddress(address) ?? {};
    const isExchanged = auth?.grant === 'token_exchange';
    if (wanted === 'shared' && isExchanged) refuse(name, 'token_exchange gives every user a token of their own');
    const isPerUser =
      wanted === 'user' || isExchanged || (wanted === undefined && this.#options.credentials !== undefined);
    if (url === undefined) {
      if (wanted === 'user') refuse(name, 'only a server with an http: or https: URL can have accounts for users');
      return false;
    }
    if (isPerUser && !this.#knowsUsers) refuse(name, 'users must be told apart: set `auth` (in code also `identify`)');
    return isPerUser;
  }

  /** The login at a server: of one user, or the one for all. */
  loginAt(name: string, address: Address, account?: Account): Pick<UpstreamTargetOptions, 'login' | 'logIn'> {
    const { credentials, loginFor } = this.#options;
    const { url, auth } = loginAddress(address) ?? {};
    if (account && url && auth?.grant === 'token_exchange')
      return { login: createExchangedLogin({ name, url, login: auth, account }) };
    if (account && url && credentials) return { login: givenCredentials(account, { name, url, credentials }) };
    const login = loginTo(name, address, { loginFor, account, events: this.#events, store: this.#store });
    return { login, logIn: login && this.#askerFor(name, address, { login, isOwn: account !== undefined }) };
  }

  close(): void {
    this.#desk.close();
  }

  get #knowsUsers(): boolean {
    return this.#options.auth !== undefined || this.#options.identify !== undefined;
  }

  /** Lets the user of a call log in; undefined if the users of this gateway may not, or if no person is needed. */
  #askerFor(
    server: string,
    address: Address,
    { login, isOwn }: { login: ServerLogin; isOwn: boolean },
  ): ((exchange: Exchange) => Promise<void>) | undefined {
    const isOperators = this.#options.auth?.token !== undefined;
    if (this.#knowsUsers && !isOwn && !isOperators) return undefined;
    if (loginAddress(address)?.auth?.grant !== undefined) return undefined;
    const browserLogin = this.#toBrowserLogin(server, address, login);
    return async (exchange) => {
      // The key of another user opens the gate, too.
      if (!isOwn && exchange.client.connection?.identity) throw new GatewayError('UPSTREAM_LOGIN_NEEDED', { server });
      // A server that needed a login is not tried again at once, and somebody may have logged in elsewhere meanwhile.
      if (await login.hasFreshTokens()) return;
      await this.#desk.ask(exchange, server, browserLogin);
    };
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
        const { logInOnLoopback } = await import('../../../mcp/connect/accounts/loopback-login.ts');
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

function refuse(server: string, reason: string): never {
  throw new GatewayError('BAD_OPTION', { option: `account of ${server}`, reason });
}
