// The grant with which a client exchanges an assertion of an identity provider for a token of ours (enterprise-managed authorization, RFC 7523,
// ID-JAG): for the client that the assertion names, which has to prove who it is, and once.
import type Provider from 'oidc-provider';
import type { errors as Errors } from 'oidc-provider';
import type { JWTPayload } from 'jose';
import type { Clock } from '../../../../kernel/base/clock.ts';
import type { Log } from '../../../../kernel/base/log.ts';
import { isResource } from '../well-known.ts';
import { Issuer } from '../issuer.ts';
import { readIssuer, verifyJwt } from '../token-verifier.ts';
import type { FrontAdapter, FrontStore } from './front-store.ts';

interface AssertionGrant extends AssertionRules {
  endpoint: string;
  scopes: readonly string[];
  /** The issuer at which people log in; its people are the same, however they come. */
  issuer: string;
  accounts: FrontAdapter;
  /** Of oidc-provider, which is loaded only where it is used. */
  errors: typeof Errors;
}

interface AssertionRules {
  /** The identity providers that are trusted. */
  issuers: readonly string[];
  /** How the assertion names this authorization server. */
  audience: string;
  store: FrontStore;
  clock: Clock;
  log: Log;
}

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** How long access tokens count. */
export const ACCESS_S = 3600;

export function addAssertionGrant(
  provider: Provider,
  { endpoint, scopes, issuer, accounts, errors, ...rules }: AssertionGrant,
): void {
  const take = createTakeAssertion(rules);
  const grant = async (ctx: Parameters<Parameters<Provider['registerGrantType']>[1]>[0]): Promise<void> => {
    const { client } = ctx.oidc;
    const params: Record<string, unknown> = ctx.oidc.params ?? {};
    // Without proof of who the client is, an assertion that leaks would be good for everybody.
    if (!client || client.tokenEndpointAuthMethod === 'none')
      throw new errors.InvalidClient('this grant is not for public clients');
    const claims = await take(String(params['assertion'] ?? ''), client.clientId);
    if (!claims) throw new errors.InvalidGrant('the assertion does not count');
    const resource = resourceOf(claims, params['resource'], endpoint);
    if (resource === undefined) throw new errors.InvalidTarget();
    const allowed = typeof claims['scope'] === 'string' ? claims['scope'].split(' ') : scopes;
    const asked = typeof params['scope'] === 'string' ? params['scope'].split(' ') : allowed;
    const scope = scopes.filter((one) => allowed.includes(one) && asked.includes(one)).join(' ');
    const accountId = claims.iss === issuer ? claims.sub! : `${claims.iss}#${claims.sub}`;
    const { name, email, groups } = claims as Record<string, unknown>;
    await accounts.upsert(accountId, { account: { name, email, groups } }, ACCESS_S * 24);
    const kept = new provider.Grant({ accountId, clientId: client.clientId });
    kept.addResourceScope(resource, scope);
    const token = new provider.AccessToken({
      accountId,
      client,
      grantId: await kept.save(),
      gty: 'jwt-bearer',
      scope,
    });
    token.resourceServer = new provider.ResourceServer(resource, toResourceServer(resource, scope));
    ctx.oidc.entity('AccessToken', token);
    ctx.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: token.expiration, scope };
  };
  provider.registerGrantType(JWT_BEARER, grant, ['assertion', 'scope', 'resource']);
}

/** The tokens for a resource, as oidc-provider wants to know of them. */
export function toResourceServer(resource: string, scope: string) {
  return {
    scope,
    audience: resource,
    accessTokenFormat: 'jwt' as const,
    accessTokenTTL: ACCESS_S,
    jwt: { sign: { alg: 'ES256' as const } },
  };
}

/** The assertion says for which resource it is; the request may not say another one. */
function resourceOf(claims: JWTPayload, asked: unknown, endpoint: string): string | undefined {
  const named = claims['resource'];
  const resource = asked ?? named ?? endpoint;
  if (typeof resource !== 'string' || !isResource(resource, endpoint)) return undefined;
  return named === undefined || named === resource ? resource : undefined;
}

/** Undefined if it does not count, without a reason. */
type TakeAssertion = (assertion: string, clientId: string) => Promise<JWTPayload | undefined>;

const MAX_CHARS = 16 * 1024;
/** Longer ones would have to be remembered for longer. */
const MAX_AGE_S = 3600;

function createTakeAssertion({ issuers, audience, store, clock, log }: AssertionRules): TakeAssertion {
  const known = new Map(issuers.map((issuer) => [issuer, new Issuer({ issuer }, { clock, log })]));
  return async (assertion, clientId) => {
    const issuer = assertion.length <= MAX_CHARS ? known.get(readIssuer(assertion) ?? '') : undefined;
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
