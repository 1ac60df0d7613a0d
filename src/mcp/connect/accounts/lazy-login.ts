// The login at one server, which loads nothing of OAuth until the server refuses a request, a login is configured, or tokens of an earlier
// login are stored.
import type { LoginRefusal, LoginAttempt, ServerLogin, ServerLoginOptions } from './server-login.ts';
import { loginKey } from './server-login.ts';

export function createServerLogin(options: ServerLoginOptions): ServerLogin {
  return new LazyServerLogin(options);
}

class LazyServerLogin implements ServerLogin {
  readonly url: URL;
  readonly #options: ServerLoginOptions;
  #loaded: Promise<ServerLogin> | undefined;
  #login: ServerLogin | undefined;
  #isKnown = false;

  constructor(options: ServerLoginOptions) {
    this.#options = options;
    this.url = new URL(options.url);
    this.#isKnown = options.store.has(loginKey(this.url, options.login, options.account));
  }

  headersFor(method: string, url: URL): Promise<Record<string, string>> | undefined {
    if (!this.#isKnown) return undefined;
    return this.#load().then(async (login) => (await login.headersFor(method, url)) ?? {});
  }

  async refused(refusal: LoginRefusal): Promise<boolean> {
    this.#isKnown = true;
    return (await this.#load()).refused(refusal);
  }

  accepted(): void {
    this.#login?.accepted();
  }

  async hasFreshTokens(): Promise<boolean> {
    return (await this.#load()).hasFreshTokens();
  }

  async begin(redirectUrl: string, mark?: string): Promise<LoginAttempt> {
    this.#isKnown = true;
    return (await this.#load()).begin(redirectUrl, mark);
  }

  async lastRedirectUrl(): Promise<string | undefined> {
    return (await this.#load()).lastRedirectUrl();
  }

  async end(): Promise<void> {
    return (await this.#load()).end();
  }

  async settle(thrown: unknown, signal?: AbortSignal): Promise<boolean> {
    return this.#isKnown && (await this.#load()).settle(thrown, signal);
  }

  #load(): Promise<ServerLogin> {
    this.#loaded ??= import('./oauth-login.ts').then(({ OAuthLogin }) => (this.#login = new OAuthLogin(this.#options)));
    return this.#loaded;
  }
}
