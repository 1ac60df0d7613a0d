// A login whose `auth` can be replaced while clients are connected. Every request is judged by the `auth` of that moment: a session goes on whose
// caller is still let in as the same principal, and is refused from its next request on otherwise. Streams and connections stay open for those whose
// key, token or issuer is still there, unchanged; all others end.
import type { Validity } from '../../kernel/exchange.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { PageLogin } from '../../kernel/login-pages.ts';
import type { AuthOptions } from './auth/auth-options.ts';
import type { Identify } from './identify.ts';
import type { Login } from './login.ts';

type CreateLogin = (auth: AuthOptions) => Login;

export class LiveLogin implements Login {
  readonly #create: CreateLogin;
  #current: Login;
  readonly identify: Identify = (request) => this.#current.identify(request);
  readonly identifyVisitor: Identify = (request) => this.#current.identifyVisitor(request);
  readonly pageLogin: PageLogin = {
    hostFor: (principal) => this.#current.pageLogin?.hostFor(principal),
    visitorOf: async (request) => this.#current.pageLogin?.visitorOf(request),
    begin: (visit) => this.#pages.begin(visit),
    logOut: (visit) => this.#pages.logOut(visit),
  };

  constructor(auth: AuthOptions, create: CreateLogin) {
    this.#create = create;
    this.#current = create(auth);
  }

  /** Throws BAD_OPTION, and then nothing changes. */
  replace(auth: AuthOptions | undefined): void {
    const before = this.#current;
    if (!auth) throw changeRefused('a gateway that asks for a login cannot stop asking while it runs');
    const next = this.#create(auth);
    if (next.isNameless !== before.isNameless) {
      next.close();
      throw changeRefused('`token` cannot come or go while the gateway runs');
    }
    this.#current = next;
  }

  /** What it was before an update: that is taken back, or kept. */
  checkpoint(): { undo(): void; keep(): void } {
    const before = this.#current;
    return {
      undo: () => {
        if (this.#current !== before) this.#current.close();
        this.#current = before;
      },
      keep: () => {
        if (this.#current !== before) before.retire(this.#current);
      },
    };
  }

  get adminScope(): string {
    return this.#current.adminScope;
  }

  get isNameless(): boolean {
    return this.#current.isNameless;
  }

  get namelessValidity(): Validity | undefined {
    return this.#current.namelessValidity;
  }

  get needsUrl(): boolean {
    return this.#current.needsUrl;
  }

  checkCall(...call: Parameters<NonNullable<Login['checkCall']>>): void {
    this.#current.checkCall?.(...call);
  }

  openPage(visit: Parameters<Login['openPage']>[0]): ReturnType<Login['openPage']> {
    return this.#current.openPage(visit);
  }

  keys(): ReturnType<Login['keys']> {
    return this.#current.keys();
  }

  checks(): ReturnType<Login['checks']> {
    return this.#current.checks();
  }

  /** It is never replaced itself. */
  retire(): void {
    this.close();
  }

  ready(): Promise<void> {
    return this.#current.ready();
  }

  close(): void {
    this.#current.close();
  }

  /** Only asked for where `hostFor` or `visitorOf` has found something. */
  get #pages(): PageLogin {
    const { pageLogin } = this.#current;
    if (!pageLogin) throw changeRefused('nobody logs in at pages any more');
    return pageLogin;
  }
}

function changeRefused(reason: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option: 'auth', reason });
}
