// The requests to a token endpoint, by way of oauth4webapi and the guarded fetch. A server's demand for a DPoP nonce is met once;
// ID tokens are left out, because nobody here uses them. A failure is told without secrets.
import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, ClientAuth, DPoPHandle, TokenEndpointResponse } from 'oauth4webapi';
import type { GuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';
import { GatewayError, messageOf } from '../../../kernel/base/errors.ts';
import { shorten, printableLine } from '../../../kernel/base/visible.ts';
import type { LoginTokens } from './login-store.ts';
import type { EnterpriseLogin } from './login-options.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

/** Who asks whom for a token. */
export interface TokenParty {
  server: AuthorizationServer;
  clientId: string;
  auth: ClientAuth;
  resource: string | undefined;
  dpop: DPoPHandle | undefined;
}

interface CodeExchange {
  /** Checked with `checkRedirect`. */
  parameters: URLSearchParams;
  redirectUrl: string;
  verifier: string;
}

type RequestOptions = oauth.TokenEndpointRequestOptions;

export class OAuthRequests {
  /** For requests of oauth4webapi. */
  readonly options: {
    [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<string, unknown>) => Promise<Response>;
    [oauth.allowInsecureRequests]: boolean;
  };
  readonly #now: () => number;

  constructor(guarded: GuardedFetch, now: () => number) {
    this.#now = now;
    this.options = {
      [oauth.customFetch]: async (url, { method, headers, body, signal }) =>
        withoutIdToken(await guarded(url, { method, headers, body: body as string | URLSearchParams | null, signal })),
      [oauth.allowInsecureRequests]: true, // the guarded fetch decides
    };
  }

  /** The redirect must come from the issuer that was asked (RFC 9207), for this attempt; throws. */
  checkRedirect(party: TokenParty, parameters: URLSearchParams, state: string): URLSearchParams {
    return oauth.validateAuthResponse(party.server, { client_id: party.clientId }, parameters, state);
  }

  byCode(party: TokenParty, { parameters, redirectUrl, verifier }: CodeExchange): Promise<LoginTokens> {
    const { server, clientId, auth } = party;
    return this.#request(party, (options) =>
      oauth.authorizationCodeGrantRequest(
        server,
        { client_id: clientId },
        auth,
        parameters,
        redirectUrl,
        verifier,
        options,
      ),
    );
  }

  byRefresh(party: TokenParty, { refresh = '', scope }: LoginTokens): Promise<LoginTokens> {
    const { server, clientId, auth } = party;
    return this.#request(party, (options) =>
      oauth.refreshTokenGrantRequest(server, { client_id: clientId }, auth, refresh, options),
    ).then((tokens) => ({ ...tokens, refresh: tokens.refresh ?? refresh, scope: tokens.scope ?? scope }));
  }

  byClient(party: TokenParty, scope: string | undefined): Promise<LoginTokens> {
    return this.#byGrant(party, 'client_credentials', { scope, resource: party.resource });
  }

  byAssertion(party: TokenParty, assertion: string, scope: string | undefined): Promise<LoginTokens> {
    return this.#byGrant(party, JWT_BEARER, { assertion, scope, resource: party.resource });
  }

  /** A token for another audience, in exchange for the token of a user. */
  byExchange(
    party: TokenParty,
    { subject, audience, scope }: { subject: string; audience: string | undefined; scope: string | undefined },
  ): Promise<LoginTokens> {
    return this.#byGrant(party, TOKEN_EXCHANGE, {
      subject_token: subject,
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
      audience,
      resource: audience === undefined ? party.resource : undefined,
      scope,
    });
  }

  /** Has the identity provider of a company vouch for its user; returns the grant for the server's authorization server. */
  async identityGrant(idp: EnterpriseLogin, wanted: TokenParty, scope: string | undefined): Promise<string> {
    const server = { issuer: new URL(idp.tokenEndpoint).origin, token_endpoint: idp.tokenEndpoint };
    const asked = toParameters({
      requested_token_type: ID_JAG,
      audience: wanted.server.issuer,
      resource: wanted.resource,
      subject_token: typeof idp.idToken === 'string' ? idp.idToken : await idp.idToken(),
      subject_token_type: ID_TOKEN,
      scope,
    });
    const auth = idp.clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(idp.clientSecret);
    const client = { client_id: idp.clientId };
    const response = await oauth.genericTokenEndpointRequest(server, client, auth, TOKEN_EXCHANGE, asked, this.options);
    const recognizedTokenTypes = { n_a: () => {} };
    const given = await oauth.processGenericTokenEndpointResponse(server, client, response, { recognizedTokenTypes });
    if (given['issued_token_type'] !== ID_JAG) throw new Error('the identity provider issued another kind of token');
    return given.access_token;
  }

  async revoke({ server, clientId, auth }: TokenParty, token: string): Promise<void> {
    const response = await oauth.revocationRequest(server, { client_id: clientId }, auth, token, this.options);
    await oauth.processRevocationResponse(response);
  }

  #byGrant(party: TokenParty, grant: string, given: Record<string, string | undefined>): Promise<LoginTokens> {
    const { server, clientId, auth } = party;
    const asked = toParameters(given);
    return this.#request({ ...party, resource: undefined }, (options) =>
      oauth.genericTokenEndpointRequest(server, { client_id: clientId }, auth, grant, asked, options),
    );
  }

  async #request(
    { server, clientId, resource, dpop }: TokenParty,
    send: (options: RequestOptions) => Promise<Response>,
  ): Promise<LoginTokens> {
    const options: RequestOptions = {
      ...this.options,
      ...(dpop && { DPoP: dpop }),
      additionalParameters: toParameters({ resource }),
    };
    const client = { client_id: clientId };
    const attempt = async (): Promise<TokenEndpointResponse> =>
      oauth.processGenericTokenEndpointResponse(server, client, await send(options));
    const given = await attempt().catch((thrown: unknown) => {
      if (dpop && oauth.isDPoPNonceError(thrown)) return attempt();
      throw thrown;
    });
    return toTokens(given, this.#now());
  }
}

function toTokens(given: TokenEndpointResponse, now: number): LoginTokens {
  const { access_token: access, token_type: type, refresh_token: refresh, expires_in: seconds, scope } = given;
  for (const token of [access, refresh]) secrets.addPassing(token);
  return {
    access,
    type,
    issuedAt: now,
    ...(refresh !== undefined && { refresh }),
    ...(seconds !== undefined && { expiresAt: now + seconds * 1000 }),
    ...(scope !== undefined && { scope }),
  };
}

function toParameters(given: Record<string, string | undefined>): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters.set(name, value);
  return parameters;
}

/** A provider's odd ID token would spoil the answer for nothing. */
async function withoutIdToken(response: Response): Promise<Response> {
  if (response.status !== 200 || !/\bjson\b/.test(response.headers.get('content-type') ?? '')) return response;
  const text = await response.text();
  const { status, headers } = response;
  try {
    const { id_token: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    return new Response(JSON.stringify(rest), { status, headers });
  } catch {
    return new Response(text, { status, headers });
  }
}

const MAX_REASON_CHARS = 300;

/** Says why a login failed: what the authorization server said of it, or what was wrong with its answer. */
export function loginFailure(thrown: unknown, server: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  // The cause may hold tokens, so it is not kept.
  return new GatewayError('UPSTREAM_LOGIN_FAILED', { server, reason: reasonOf(thrown) });
}

/** The code of an OAuth error, such as `invalid_grant`; undefined for any other failure. */
export function oauthErrorCode(thrown: unknown): string | undefined {
  if (isErrorAnswer(thrown)) return thrown.error;
  if (!(thrown instanceof oauth.WWWAuthenticateChallengeError)) return undefined;
  // A token endpoint asks like this who the client is: the one that was named does not count.
  return thrown.cause[0]?.parameters.error ?? (thrown.status === 401 ? 'invalid_client' : undefined);
}

function reasonOf(thrown: unknown): string {
  const description = isErrorAnswer(thrown) ? thrown.error_description : undefined;
  const code = oauthErrorCode(thrown) ?? messageOf(thrown);
  return shorten(printableLine(description === undefined ? code : `${code}: ${description}`), MAX_REASON_CHARS);
}

function isErrorAnswer(thrown: unknown): thrown is oauth.ResponseBodyError | oauth.AuthorizationResponseError {
  return thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError;
}
