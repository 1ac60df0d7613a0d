// Asks an issuer about a token (RFC 7662).
import type { JWTPayload } from 'jose';
import { GatewayError } from '../../../shared/errors.ts';
import type { IntrospectionOptions } from './auth-options.ts';
import type { Issuer } from './issuer.ts';

/** Undefined if the issuer does not know the token, or knows that it is over. */
export async function introspect(
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
