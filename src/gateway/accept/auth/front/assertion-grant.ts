// The grant with which a client exchanges an assertion of an identity provider for a token (RFC 7523, ID-JAG).
import type Provider from 'oidc-provider';
import type { errors as Errors } from 'oidc-provider';
import type { JWTPayload } from 'jose';
import { isResource } from '../well-known.ts';
import type { FrontAdapter } from './front-store.ts';
import { JWT_BEARER } from './take-assertion.ts';
import type { TakeAssertion } from './take-assertion.ts';

export interface AssertionGrant {
  take: TakeAssertion;
  endpoint: string;
  scopes: readonly string[];
  /** The issuer at which people log in; its people are the same, however they come. */
  issuer: string;
  accounts: FrontAdapter;
  /** Of oidc-provider, which is loaded only where it is used. */
  errors: typeof Errors;
}

const ACCESS_S = 3600;

export function addAssertionGrant(
  provider: Provider,
  { take, endpoint, scopes, issuer, accounts, errors }: AssertionGrant,
): void {
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
    token.resourceServer = new provider.ResourceServer(resource, {
      scope,
      audience: resource,
      accessTokenFormat: 'jwt',
      accessTokenTTL: ACCESS_S,
      jwt: { sign: { alg: 'ES256' } },
    });
    ctx.oidc.entity('AccessToken', token);
    ctx.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: token.expiration, scope };
  };
  provider.registerGrantType(JWT_BEARER, grant, ['assertion', 'scope', 'resource']);
}

/** The assertion says for which resource it is; the request may not say another one. */
function resourceOf(claims: JWTPayload, asked: unknown, endpoint: string): string | undefined {
  const named = claims['resource'];
  const resource = asked ?? named ?? endpoint;
  if (typeof resource !== 'string' || !isResource(resource, endpoint)) return undefined;
  return named === undefined || named === resource ? resource : undefined;
}
