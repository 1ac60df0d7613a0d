// A server on this machine may be a gateway of this user, which asks for the user's token. It gets the token when it refuses a request; every
// other server is left to its own login.
import type { LoginAttempt, LoginRefusal, ServerLogin } from '../../gateway/upstream/login/server-login.ts';

/** The gateway has just answered, so it will: on a busy machine that takes its time. */
const ANSWER_MS = 30_000;

export class OwnGatewayLogin implements ServerLogin {
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
    const { tokenFor } = await import('../running/gateway-token.ts');
    const token = await tokenFor(this.url, ANSWER_MS);
    this.#authorization = token && `Bearer ${token}`;
    if (this.#authorization !== undefined && this.#authorization !== sent) return true;
    return this.#login.refused(refusal);
  }

  accepted(): void {
    this.#login.accepted();
  }

  begin(redirectUrl: string): Promise<LoginAttempt> {
    return this.#login.begin(redirectUrl);
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
