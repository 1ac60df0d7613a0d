// Tells access tokens from the other tokens that an issuer signs with the same keys: where the audience is the id of a client, its ID tokens
// and logout tokens have that audience, too. Many issuers write `JWT` into the header of all of them, so the claims have to tell.
import type { JWTPayload } from 'jose';

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

/** `typ`: of the header, in lower case. */
export function isAccessToken(typ: string | undefined, claims: JWTPayload): boolean {
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
