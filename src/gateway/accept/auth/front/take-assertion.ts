// Exchanges the assertion of an identity provider for a token of ours (enterprise-managed authorization, ID-JAG): for the client that the
// assertion names, which has to prove who it is, and once.
import { decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import type { Clock } from '../../../../shared/clock.ts';
import type { Log } from '../../../../shared/log.ts';
import { Issuer } from '../issuer.ts';
import { verifyJwt } from '../verify-jwt.ts';
import type { FrontStore } from './front-store.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const MAX_CHARS = 16 * 1024;
/** Longer ones would have to be remembered for longer. */
const MAX_AGE_S = 3600;

export interface AssertionRules {
  /** The identity providers that are trusted. */
  issuers: readonly string[];
  /** How the assertion names this authorization server. */
  audience: string;
  store: FrontStore;
  clock: Clock;
  log: Log;
}

/** Undefined if it does not count, without a reason. */
export type TakeAssertion = (assertion: string, clientId: string) => Promise<JWTPayload | undefined>;

export function createTakeAssertion({ issuers, audience, store, clock, log }: AssertionRules): TakeAssertion {
  const known = new Map(issuers.map((issuer) => [issuer, new Issuer({ issuer }, { clock, log })]));
  return async (assertion, clientId) => {
    const issuer = assertion.length <= MAX_CHARS ? known.get(issuerOf(assertion)) : undefined;
    if (!issuer) return undefined;
    const claims = await verifyJwt(assertion, issuer, { clock, isKind: (typ) => typ === 'oauth-id-jag+jwt' }).catch(
      (error: unknown) => {
        log.info({ error }, 'login.assertion-refused');
      },
    );
    if (!claims) return undefined;
    const { aud, exp, iat, jti, sub } = claims;
    const isOurs = aud === audience || (Array.isArray(aud) && aud.length === 1 && aud[0] === audience);
    const isShort = typeof exp === 'number' && typeof iat === 'number' && exp - iat <= MAX_AGE_S;
    if (!isOurs || !isShort || claims['client_id'] !== clientId || typeof sub !== 'string' || sub === '')
      return undefined;
    if (typeof jti !== 'string' || jti === '' || jti.length > 256) return undefined;
    return (await store.take(`Assertion:${claims.iss} ${jti}`)) ? claims : undefined;
  };
}

function issuerOf(assertion: string): string {
  try {
    return decodeJwt(assertion).iss ?? '';
  } catch {
    return '';
  }
}
