// Renews the tokens of one login, once for all calls and processes. A refresh token may be spent only once: authorization servers
// take a second use for theft and end the whole login. So the record is read again inside the lock, and a
// process that finds newer tokens takes those. If the lock or the store fails, or is not sure any more, nothing is spent.
import { messageOf } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { oauthErrorCode } from './oauth-requests.ts';
import type { OAuthRequests, TokenParty } from './oauth-requests.ts';
import type { LoginRecord, LoginStore, LoginTokens } from './login-store.ts';

interface TokenRefreshOptions {
  store: LoginStore;
  key: string;
  requests: OAuthRequests;
  party(record: LoginRecord): Promise<TokenParty>;
  log?: Log | undefined;
  /** Of what belongs into the audit log. */
  tell: (outcome: string, reason: string) => void;
  now(): number;
}

/** Renewed a little before they expire: a tenth of their life, at most this. */
const MAX_EARLY_MS = 30_000;
/** The tokens themselves are no longer valid. */
const REFUSED = ['invalid_grant', 'invalid_client', 'unauthorized_client'];

export function isStale({ issuedAt, expiresAt, refresh }: LoginTokens, now: number): boolean {
  if (expiresAt === undefined || refresh === undefined) return false;
  return now >= expiresAt - Math.min(MAX_EARLY_MS, (expiresAt - issuedAt) / 10);
}

export class TokenRefresh {
  readonly #options: TokenRefreshOptions;
  #renewing: Promise<LoginRecord | undefined> | undefined;
  #failure: string | undefined;

  constructor(options: TokenRefreshOptions) {
    this.#options = options;
  }

  /** Why the last attempt failed, for a reason that is not the token's: it may work later. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * Resolves with the record once its token is another than `access`; undefined if it could not be renewed now. `isRefused`: the
   * server has refused the token, whatever its time.
   */
  renew(access: string, isRefused = false): Promise<LoginRecord | undefined> {
    this.#renewing ??= this.#renew(access, isRefused).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(access: string, isRefused: boolean): Promise<LoginRecord | undefined> {
    const { store, key, log } = this.#options;
    this.#failure = undefined;
    try {
      return await store.exclusively(key, async (isSure) => {
        const record = await store.read(key);
        if (!record?.tokens) return record;
        if (record.tokens.access !== access) return record;
        if (record.tokens.refresh === undefined || (!isRefused && !isStale(record.tokens, this.#options.now())))
          return undefined;
        if (!isSure()) throw new Error('it is not sure that no other gateway renews it');
        return this.#spend(record, record.tokens);
      });
    } catch (error) {
      this.#failure = messageOf(error);
      log?.warn({ reason: this.#failure }, 'login.not-renewed');
      this.#options.tell('not_renewed', this.#failure);
      return undefined;
    }
  }

  async #spend(record: LoginRecord, tokens: LoginTokens): Promise<LoginRecord | undefined> {
    const { store, key, requests, log } = this.#options;
    let next: LoginTokens | undefined;
    let { client } = record;
    try {
      next = await requests.byRefresh(await this.#options.party(record), tokens);
    } catch (thrown) {
      const code = oauthErrorCode(thrown);
      const stored = await store.read(key);
      if (stored !== undefined && stored.version !== record.version) return stored; // renewed elsewhere in the meantime
      if (code === undefined || !REFUSED.includes(code)) throw thrown;
      log?.info({ code }, 'login.ended');
      if (code === 'invalid_client') client = { ...client, isForgotten: true };
      this.#options.tell('ended', code);
    }
    const renewed: LoginRecord = { ...record, client, version: record.version + 1, tokens: next };
    return (await store.write(key, renewed, record.version)) ? renewed : store.read(key);
  }
}
