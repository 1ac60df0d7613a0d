// Verifies access tokens: JWTs by the keys of their issuer, others by asking it. The signature is checked once per token and minute; whether
// the token is still good, and for the URL that is called, with every request.
import { isDeepStrictEqual } from 'node:util';
import { decodeJwt, errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { Identity } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { Issuer } from './issuer.ts';
import type { IssuerContext } from './issuer.ts';
import { ALGORITHMS } from './auth-options.ts';
import type { AuthOptions, IntrospectionOptions } from './auth-options.ts';
import { WatchList } from './watch-list.ts';

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
type CalledUrls = readonly (string | undefined)[];

const MAX_KNOWN = 1000;
const KNOWN_MS = 60_000;
const MAX_CHARS = 16 * 1024;

export class TokenVerifier {
  #issuers: Map<string, Issuer>;
  /** The one in front of this gateway. */
  #front: Issuer | undefined;
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, KnownToken>(MAX_KNOWN);
  readonly #watched: WatchList<Issuer>;

  constructor(issuers: NonNullable<AuthOptions['issuers']>, context: IssuerContext) {
    const all = issuers.map((one) => (typeof one === 'string' ? { issuer: one } : one));
    this.#issuers = new Map(all.map((options) => [options.issuer, new Issuer(options, context)]));
    this.#clock = context.clock;
    this.#watched = new WatchList(context.clock);
  }

  /** Takes the tokens of the issuer in front of this gateway, too, which is the first one for clients. */
  add(issuer: Issuer): void {
    this.#front = issuer;
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
    throw new InvalidToken();
  }

  /** Others take its place: what was opened by a token of an issuer that they have, unchanged, goes on; all else ends. */
  handOver(next: TokenVerifier | undefined): void {
    this.#watched.handOver(next && next.#watched, (issuer) => {
      if (issuer === this.#front) return issuer; // the one in front of the next is the same
      const found = next!.#issuers.get(issuer.options.issuer);
      return found && isDeepStrictEqual(found.options, issuer.options) ? found : undefined;
    });
  }

  close(): void {
    this.#watched.clear();
  }

  /** Until the token expires. */
  #watch(issuer: Issuer, expires: number, end: () => void): () => void {
    const forget = this.#watched.add(issuer, () => {
      cancel();
      end();
    });
    const cancel = this.#clock.after(Math.max(0, expires - this.#clock.now()), () => {
      forget();
      end();
    });
    return () => {
      cancel();
      forget();
    };
  }

  #toKnown(from: Issuer, claims: JWTPayload, knownMs: number): KnownToken {
    const { issuer, audience = [], groupsClaim = 'groups' } = from.options;
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
        validity: { watch: (end) => this.#watch(from, expires, end) },
      },
      jkt,
      audiences: [claims.aud].flat().filter((one) => typeof one === 'string'), // issuers may send anything
      allowed: typeof audience === 'string' ? [audience] : audience,
      expires,
      until: Math.min(expires, this.#clock.now() + knownMs),
    };
  }
}

function bare(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

/** Undefined if this is not a JWT. Nothing of it counts before its signature has been checked. */
export function readIssuer(token: string): string | undefined {
  if (token.split('.').length !== 3) return undefined;
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    return undefined;
  }
}

/** Its message is for the caller. */
export class InvalidToken extends Error {
  constructor(message = 'the key or token is not valid') {
    super(message);
  }
}

interface JwtRules {
  clock: Clock;
  /** Whether it is of the right kind, by `typ` of its header in lower case, and by its claims. */
  isKind: (typ: string | undefined, claims: JWTPayload) => boolean;
  /** Called before the issuer is asked for keys because of this token alone. May throw. */
  beforeAsking?: (() => void) | undefined;
}

const SKEW_S = 5;

/** Verifies the signature and the times. Throws InvalidToken, or LOGIN_UNAVAILABLE if the keys cannot be had. */
export async function verifyJwt(token: string, issuer: Issuer, rules: JwtRules): Promise<JWTPayload> {
  const { options } = issuer;
  const verifyBy = async (keys: JWTVerifyGetKey): Promise<JWTPayload> => {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: options.issuer,
      algorithms: [...(options.algorithms ?? ALGORITHMS)].filter((one) => ALGORITHMS.includes(one)),
      requiredClaims: ['exp', 'sub', 'aud'],
      clockTolerance: SKEW_S,
      currentDate: new Date(rules.clock.now()),
    });
    if (rules.isKind(protectedHeader.typ?.toLowerCase(), payload)) return payload;
    throw new InvalidToken('this is not an access token');
  };
  try {
    return await verifyBy(await issuer.keys());
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw toInvalid(error);
  }
  rules.beforeAsking?.();
  try {
    return await verifyBy(await issuer.keys(true));
  } catch (error) {
    throw toInvalid(error);
  }
}

function toInvalid(error: unknown): unknown {
  if (!(error instanceof errors.JOSEError)) return error;
  if (error instanceof errors.JWTExpired) return new InvalidToken('the token has expired');
  return new InvalidToken();
}

/** RFC 9068: the header says that it is an access token. */
const ACCESS = ['at+jwt', 'application/at+jwt'];
/** Of issuers that have no header of their own for access tokens. */
const PLAIN = [undefined, 'jwt'];
/** Keycloak says in the claim `typ` what a token is, Cognito in `token_use`. */
const OTHER_KINDS = ['id', 'refresh', 'logout', 'offline'];
const ACCESS_KINDS = ['bearer', 'dpop', 'access'];
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash'];
/** What an access token may do, and the client that got it. */
const OF_ACCESS_TOKENS = ['scope', 'scp', 'roles', 'permissions', 'client_id', 'cid'];
const URI = /^[a-z][a-z\d+.-]*:/i;

/**
 * Tells access tokens from the other tokens that an issuer signs with the same keys: where the audience is the id of a client, its ID tokens and
 * logout tokens have that audience, too. Many issuers write `JWT` into the header of all of them, so the claims have to tell. `typ`: of the
 * header, in lower case.
 */
function isAccessToken(typ: string | undefined, claims: JWTPayload): boolean {
  if (typ !== undefined && ACCESS.includes(typ)) return true;
  if (!PLAIN.includes(typ) || claims['events'] !== undefined) return false;
  const kinds = [claims['typ'], claims['token_use']].map((kind) => String(kind).toLowerCase());
  if (kinds.some((kind) => OTHER_KINDS.includes(kind))) return false;
  // Keycloak before version 24 put the nonce into access tokens, too.
  if (kinds.some((kind) => ACCESS_KINDS.includes(kind))) return true;
  if (OF_ID_TOKENS.some((claim) => claims[claim] !== undefined)) return false;
  const audiences = [claims.aud].flat();
  if (audiences.every((one) => URI.test(String(one)))) return true;
  // It may be the id of a client, and this one of its ID tokens: those of the code flow need none of the claims above.
  const { azp } = claims;
  return (
    OF_ACCESS_TOKENS.some((claim) => claims[claim] !== undefined) ||
    (azp !== undefined && !audiences.includes(azp as string))
  );
}

/** Asks an issuer about a token (RFC 7662). Undefined if it does not know the token, or knows that it is over. */
async function introspect(
  token: string,
  issuer: Issuer,
  { clientId, clientSecret, url }: IntrospectionOptions,
): Promise<JWTPayload | undefined> {
  const place = url ?? (await issuer.metadata()).introspection_endpoint;
  if (typeof place !== 'string') throw new GatewayError('LOGIN_UNAVAILABLE');
  const word = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const headers = { authorization: `Basic ${Buffer.from(word).toString('base64')}` };
  const form = new URLSearchParams({ token, token_type_hint: 'access_token' });
  const { active, ...claims } = await issuer.fetch(place, { headers, form }).catch((cause: unknown) => {
    throw new GatewayError('LOGIN_UNAVAILABLE', {}, { cause });
  });
  if (active !== true) return undefined;
  if (claims.iss !== undefined && claims.iss !== issuer.options.issuer) return undefined;
  return { ...claims, sub: claims.sub ?? claims.client_id } as JWTPayload;
}

/** Undefined for a token that everybody may use who has it. */
function boundKeyOf({ cnf }: JWTPayload): string | undefined {
  if (cnf === undefined) return undefined;
  const { jkt, ...others } = isObject(cnf) ? cnf : {};
  if (typeof jkt !== 'string' || jkt === '' || Object.keys(others).length > 0)
    throw new InvalidToken('the token is bound in a way that is not known here');
  return jkt;
}

/** RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * The scopes in the claims of a token: `scope` with spaces between them (RFC 8693), or `scp` as text or list. An entry of a list with
 * a space inside does not count, so that no scope hides in another.
 */
function scopesOf({ scope, scp }: { [claim: string]: unknown }): readonly string[] {
  if (scope !== undefined) return typeof scope === 'string' ? splitScopes(scope) : [];
  if (typeof scp === 'string') return splitScopes(scp);
  return Array.isArray(scp) ? scp.filter((one): one is string => typeof one === 'string' && SCOPE.test(one)) : [];
}

function splitScopes(text: string): string[] {
  return text.split(' ').filter((one) => SCOPE.test(one));
}
