// Verifies access tokens: JWTs by the keys of their issuer, others by asking it. The signature is checked once per token and minute; whether
// the token is still good, and for the URL that is called, with every request.
import { decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import type { Identity } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/message.ts';
import type { Clock } from '../../../shared/clock.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';
import { Issuer } from './issuer.ts';
import type { IssuerContext } from './issuer.ts';
import type { AuthOptions } from './auth-options.ts';
import { introspect } from './introspect.ts';
import { scopesOf } from './scopes.ts';
import { isAccessToken } from './token-kind.ts';
import { InvalidToken, verifyJwt } from './verify-jwt.ts';

/** A token that is good for the URL that is called. */
export interface GoodToken {
  identity: Identity;
  /** The thumbprint of the key to which it is bound (DPoP). */
  jkt: string | undefined;
}

/** A token that was found good, for some time. */
interface KnownToken extends GoodToken {
  audiences: readonly string[];
  /** The audiences that the configuration allows in addition to URLs. */
  allowed: readonly string[];
  expires: number;
  /** When to verify it again. */
  until: number;
}

/** The URLs for which a token may have been issued: of the path that is called, and of the whole endpoint. */
export type CalledUrls = readonly (string | undefined)[];

const MAX_KNOWN = 1000;
const KNOWN_MS = 60_000;
const MAX_CHARS = 16 * 1024;

export class TokenVerifier {
  #issuers: Map<string, Issuer>;
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, KnownToken>(MAX_KNOWN);

  constructor(issuers: NonNullable<AuthOptions['issuers']>, context: IssuerContext) {
    const all = issuers.map((one) => (typeof one === 'string' ? { issuer: one } : one));
    this.#issuers = new Map(all.map((options) => [options.issuer, new Issuer(options, context)]));
    this.#clock = context.clock;
  }

  /** Takes the tokens of one more issuer, which is the first one for clients. */
  add(issuer: Issuer): void {
    this.#issuers = new Map([[issuer.options.issuer, issuer], ...this.#issuers]);
  }

  get issuers(): string[] {
    return [...this.#issuers.keys()];
  }

  /** The first one, for clients that look for its metadata here. */
  get first(): Issuer | undefined {
    return this.#issuers.values().next().value;
  }

  /** Whether it was verified a short time ago. */
  knows(token: string): boolean {
    return (this.#known.get(token)?.until ?? 0) > this.#clock.now();
  }

  /** Throws InvalidToken. Undefined for a token that was not verified a short time ago. */
  recall(token: string, urls: CalledUrls): GoodToken | undefined {
    const known = this.#known.get(token);
    return known && known.until > this.#clock.now() ? this.#check(known, urls) : undefined;
  }

  /** Throws InvalidToken. `beforeAsking` may throw, too: keys that are here can verify the token only if they know its `kid`. */
  async verify(token: string, urls: CalledUrls, beforeAsking: () => void): Promise<GoodToken> {
    const found = await this.#verify(token, beforeAsking);
    this.#known.set(token, found);
    return this.#check(found, urls);
  }

  #check(known: KnownToken, urls: CalledUrls): GoodToken {
    const { audiences, allowed, expires } = known;
    if (expires <= this.#clock.now()) throw new InvalidToken('the token has expired');
    const isFor = audiences.some((one) => allowed.includes(one) || urls.includes(one) || urls.includes(bare(one)));
    if (!isFor) throw new InvalidToken('the token is for another URL');
    return known;
  }

  async #verify(token: string, beforeAsking: () => void): Promise<KnownToken> {
    const unread = token.length <= MAX_CHARS ? readIssuer(token) : undefined;
    const issuer = unread === undefined ? undefined : this.#issuers.get(unread);
    if (issuer) {
      const rules = { clock: this.#clock, isKind: isAccessToken, beforeAsking };
      return this.#toKnown(issuer, await verifyJwt(token, issuer, rules), KNOWN_MS);
    }
    beforeAsking();
    for (const asked of this.#issuers.values()) {
      const { introspection } = asked.options;
      if (!introspection || unread !== undefined) continue;
      const claims = await introspect(token, asked, introspection);
      if (claims) return this.#toKnown(asked, claims, introspection.cacheMs ?? 10_000);
    }
    throw new InvalidToken('the key or token is not valid');
  }

  #toKnown({ options }: Issuer, claims: JWTPayload, knownMs: number): KnownToken {
    const { issuer, audience = [], groupsClaim = 'groups' } = options;
    const { sub, exp } = claims;
    if (typeof sub !== 'string' || sub === '') throw new InvalidToken('the token names nobody (sub)');
    if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new InvalidToken('the token never expires (exp)');
    const jkt = boundKeyOf(claims);
    const expires = exp * 1000;
    const groups = claims[groupsClaim];
    return {
      identity: {
        principal: `${issuer}#${sub}`,
        issuer,
        subject: sub,
        claims,
        scopes: scopesOf(claims),
        ...(Array.isArray(groups) && { groups: groups.filter((one) => typeof one === 'string') }),
        validity: { watch: (end) => this.#clock.after(Math.max(0, expires - this.#clock.now()), end) },
      },
      jkt,
      audiences: textsIn(claims.aud),
      allowed: typeof audience === 'string' ? [audience] : audience,
      expires,
      until: Math.min(expires, this.#clock.now() + knownMs),
    };
  }
}

/** Undefined for a token that everybody may use who has it. */
function boundKeyOf({ cnf }: JWTPayload): string | undefined {
  if (cnf === undefined) return undefined;
  const { jkt, ...others } = isObject(cnf) ? cnf : {};
  if (typeof jkt !== 'string' || jkt === '' || Object.keys(others).length > 0)
    throw new InvalidToken('the token is bound in a way that is not known here');
  return jkt;
}

/** Undefined if this is not a JWT. Nothing of it counts before its signature has been checked. */
function readIssuer(token: string): string | undefined {
  if (token.split('.').length !== 3) return undefined;
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    return undefined;
  }
}

/** Issuers may send anything. */
function textsIn(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}

function bare(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
