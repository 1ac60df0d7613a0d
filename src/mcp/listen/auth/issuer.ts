// What is known of one issuer: its metadata and its keys. Both are fetched when a token first needs them, kept, and fetched again when they
// are old or a token names an unknown key; but not more often than twice a minute, whatever tokens callers make up.
import { createLocalJWKSet } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { isLoopbackHost } from '../../../kernel/net/address-kind.ts';
import { createGuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import type { IssuerOptions } from './auth-options.ts';

const FRESH_MS = 10 * 60_000;
const COOL_DOWN_MS = 30_000;
const MAX_KEYS = 100;

export interface IssuerContext {
  clock: Clock;
  log: Log;
}

export class Issuer {
  readonly options: IssuerOptions;
  readonly fetch: IssuerFetch;
  readonly #context: IssuerContext;
  readonly #metadata: Kept<JsonObject>;
  readonly #keys: Kept<JWTVerifyGetKey>;

  /** `fetch`: for an issuer inside this process. */
  constructor(options: IssuerOptions, context: IssuerContext, fetch = createIssuerFetch(options)) {
    this.options = options;
    this.fetch = fetch;
    this.#context = context;
    this.#metadata = new Kept(context, () => this.#fetchMetadata());
    this.#keys = new Kept(context, () => this.#fetchKeys());
  }

  /** Throws LOGIN_UNAVAILABLE if the issuer cannot be reached. */
  metadata(): Promise<JsonObject> {
    return this.#told('metadata', this.#metadata.get());
  }

  /** `isStale`: a token names a key that is not among them. */
  keys(isStale = false): Promise<JWTVerifyGetKey> {
    return this.#told('keys', this.#keys.get(isStale));
  }

  async #told<T>(what: string, asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      this.#context.log.error({ issuer: this.options.issuer, what, error }, 'login.unavailable');
      throw new GatewayError('LOGIN_UNAVAILABLE');
    }
  }

  /** RFC 8414 puts the well-known path before the path of the issuer, OpenID behind it. */
  async #fetchMetadata(): Promise<JsonObject> {
    const { issuer } = this.options;
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/+$/, '');
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
    ];
    const problems: unknown[] = [];
    for (const place of places) {
      try {
        const found = await this.fetch(place);
        if (found.issuer === issuer) return found;
        problems.push(new Error(`${place} is of another issuer`));
      } catch (error) {
        problems.push(error);
      }
    }
    throw new AggregateError(problems, `no metadata of ${issuer}`);
  }

  async #fetchKeys(): Promise<JWTVerifyGetKey> {
    const url = this.options.jwksUrl ?? (await this.#metadata.get()).jwks_uri;
    if (typeof url !== 'string') throw new Error('the metadata names no keys');
    const found = await this.fetch(url);
    if (!Array.isArray(found.keys) || found.keys.length > MAX_KEYS) throw new Error('this is not a set of keys');
    return createLocalJWKSet(found as unknown as JSONWebKeySet);
  }
}

/** One value that is fetched once at a time. An old one is used while a new one cannot be had. */
class Kept<T> {
  readonly #context: IssuerContext;
  readonly #fetch: () => Promise<T>;
  #value: T | undefined;
  #failure: unknown;
  #triedAt = -Infinity;
  #running: Promise<T> | undefined;

  constructor(context: IssuerContext, fetch: () => Promise<T>) {
    this.#context = context;
    this.#fetch = fetch;
  }

  get(isStale = false): Promise<T> {
    const age = this.#context.clock.now() - this.#triedAt;
    const wait = this.#value === undefined || isStale ? COOL_DOWN_MS : FRESH_MS;
    if (age >= wait) return (this.#running ??= this.#renew());
    if (this.#running) return this.#running;
    return this.#value === undefined ? Promise.reject(this.#failure) : Promise.resolve(this.#value);
  }

  async #renew(): Promise<T> {
    this.#triedAt = this.#context.clock.now();
    try {
      this.#value = await this.#fetch();
      return this.#value;
    } catch (error) {
      this.#failure = error;
      this.#context.log.warn({ error }, 'login.not-renewed');
      if (this.#value === undefined) throw error;
      return this.#value;
    } finally {
      this.#running = undefined;
    }
  }
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 512 * 1024;

/** `form` makes it a POST. */
export type IssuerFetch = (
  url: string,
  request?: { headers?: Record<string, string>; form?: URLSearchParams },
) => Promise<JsonObject>;

/**
 * Fetches JSON from an issuer: its metadata, its keys, its word about a token. The hosts that the operator has named may be private, and http is for
 * issuers on this machine alone; what the metadata names beyond them is checked like any stranger's URL.
 */
function createIssuerFetch({ issuer, jwksUrl, introspection }: IssuerOptions): IssuerFetch {
  const named = [issuer, jwksUrl, introspection?.url].flatMap((url) =>
    url === undefined ? [] : new URL(url).hostname,
  );
  const loopback = isLoopbackHost(new URL(issuer).hostname);
  const guarded = createGuardedFetch({ loopback, hosts: named, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  return async (url, { headers, form } = {}) => {
    const response = await guarded(url, {
      headers: {
        accept: 'application/json',
        ...headers,
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { method: 'POST', body: form.toString() }),
    });
    if (!response.ok) throw new Error(`${new URL(url).origin} answered with ${response.status}`);
    const value: unknown = await response.json();
    if (!isObject(value)) throw new Error(`${new URL(url).origin} did not answer with a JSON object`);
    return value;
  };
}
