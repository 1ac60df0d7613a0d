// One secret that every request must carry. It says that the caller may enter, and not who it is: callers stay as nameless as without it. A key of
// the key file opens the gate, too, and its caller has a name.
import type { Identity, Validity } from '../../../kernel/exchange.ts';
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';
import { MIN_KEY_LENGTH } from '../../../kernel/crypto/state-keys.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpResponse } from '../../../kernel/base/http.ts';
import type { IdentifyRequest } from '../identify.ts';
import type { LoginContext } from './login-context.ts';
import { ApiKeys } from './api-keys.ts';
import type { AuthOptions } from './auth-options.ts';
import { readCredential, unauthorized } from './credentials.ts';
import { WatchList } from './watch-list.ts';

const HOW = 'on its machine, `parley status --lines` prints the lines for clients with it';

export class TokenGate {
  readonly #token: Buffer;
  readonly #keys: ApiKeys | undefined;
  /** What callers with the token have open. */
  readonly #opened: WatchList<Buffer>;
  /** How long the token is valid: until another one takes its place. */
  readonly validity: Validity = { watch: (end) => this.#opened.add(this.#token, end) };

  constructor({ token = '', keyFile, ...others }: AuthOptions, { clock, log, state }: LoginContext) {
    if (Object.values(others).some((value) => value !== undefined))
      throw bad('give either `token`, with or without `keyFile`, or what else `auth` can hold');
    if (token.length < MIN_KEY_LENGTH || !readCredential(`Bearer ${token}`))
      throw bad(`a token needs at least ${MIN_KEY_LENGTH} characters, and only those of a Bearer token`);
    this.#token = Buffer.from(token);
    this.#opened = new WatchList(clock);
    this.#keys = keyFile === undefined ? undefined : new ApiKeys({ keyFile, clock, log, state });
  }

  /** Before anybody is identified. */
  async open(): Promise<void> {
    await this.#keys?.open();
  }

  get keys(): ApiKeys['list'] {
    return this.#keys?.list ?? [];
  }

  /** Null for a caller with the token, who has no name. Throws UNAUTHORIZED. */
  identify({ headers }: Pick<IdentifyRequest, 'headers'>): Identity | null {
    const credential = readCredential(headers.authorization);
    if (!credential) throw unauthorized(`this gateway asks for its token; ${HOW}`, {});
    if (credential.scheme === 'Bearer' && this.#isToken(credential.token)) return null;
    const known = credential.scheme === 'Bearer' ? this.#keys?.find(credential.token) : undefined;
    if (known) return known;
    const reason = `this is not the token of this gateway; ${HOW}`;
    throw unauthorized(reason, { error: 'invalid_token', description: reason });
  }

  /** There are no scopes. */
  checkCall(): void {}

  async answer(_asked: unknown, response: HttpResponse): Promise<void> {
    response.writeHead(404).end();
  }

  /** Another one takes its place, which decides about what callers have open. */
  handOver(next: unknown): void {
    const other = next instanceof TokenGate ? next : undefined;
    this.#keys?.handOver(other && other.#keys);
    this.#opened.handOver(other && other.#opened, (token) =>
      other && other.#token.equals(token) ? other.#token : undefined,
    );
  }

  close(): void {
    this.#keys?.close();
    this.#opened.clear();
  }

  /** Takes the same time for every wrong token of the right length; the length is not a secret. */
  #isToken(presented: string): boolean {
    const given = Buffer.from(presented);
    return given.length === this.#token.length && lazyCrypto().timingSafeEqual(given, this.#token);
  }
}

function bad(reason: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option: 'auth.token', reason });
}
