// Verifies the signature and the times of a JWT by the keys of its issuer.
import { errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../../shared/clock.ts';
import { ALGORITHMS } from './auth-options.ts';
import type { Issuer } from './issuer.ts';

/** Its message is for the caller. */
export class InvalidToken extends Error {}

export interface JwtRules {
  clock: Clock;
  /** Whether it is of the right kind, by `typ` of its header in lower case, and by its claims. */
  isKind: (typ: string | undefined, claims: JWTPayload) => boolean;
  /** Called before the issuer is asked for keys because of this token alone. May throw. */
  beforeAsking?: (() => void) | undefined;
}

const SKEW_S = 5;

/** Throws InvalidToken, or LOGIN_UNAVAILABLE if the keys cannot be had. */
export async function verifyJwt(token: string, issuer: Issuer, rules: JwtRules): Promise<JWTPayload> {
  try {
    return await verifyBy(await issuer.keys(), { token, issuer, rules });
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw toInvalid(error);
  }
  rules.beforeAsking?.();
  try {
    return await verifyBy(await issuer.keys(true), { token, issuer, rules });
  } catch (error) {
    throw toInvalid(error);
  }
}

interface Verified {
  token: string;
  issuer: Issuer;
  rules: JwtRules;
}

async function verifyBy(keys: JWTVerifyGetKey, { token, issuer, rules }: Verified): Promise<JWTPayload> {
  const { options } = issuer;
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: options.issuer,
    algorithms: [...(options.algorithms ?? ALGORITHMS)].filter((one) => ALGORITHMS.includes(one)),
    requiredClaims: ['exp', 'sub', 'aud'],
    clockTolerance: SKEW_S,
    currentDate: new Date(rules.clock.now()),
  });
  if (!rules.isKind(protectedHeader.typ?.toLowerCase(), payload)) throw new InvalidToken('this is not an access token');
  return payload;
}

function toInvalid(error: unknown): unknown {
  if (!(error instanceof errors.JOSEError)) return error;
  if (error instanceof errors.JWTExpired) return new InvalidToken('the token has expired');
  return new InvalidToken('the key or token is not valid');
}
