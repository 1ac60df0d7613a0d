// Decides which client we are at an authorization server, how it proves that, and where the browser comes back to. In this order: a client registered
// by hand, one with a metadata document, the one of an earlier login, and as a last resort a newly registered one. A client that registered itself is never used at another issuer; who
// guards a configured one is oauth-login.ts.
import * as oauth from 'oauth4webapi';
import type { AuthorizationServer, ClientAuth } from 'oauth4webapi';
import { isObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { smallDigest } from '../../../kernel/base/short-name.ts';
import type { LoginClient } from './login-store.ts';
import type { LoginOptions } from './login-options.ts';
import type { OAuthRequests } from './oauth-requests.ts';

interface ClientChoice {
  server: AuthorizationServer;
  /** For messages. */
  name: string;
  login: LoginOptions;
  redirectUrl: string | undefined;
  /** The client of an earlier login at this issuer. */
  earlier: LoginClient | undefined;
  now: number;
}

export async function chooseClient(choice: ClientChoice, requests: OAuthRequests): Promise<LoginClient> {
  const { server, login, redirectUrl, earlier } = choice;
  if (login.clientId !== undefined) {
    return { id: login.clientId, secret: login.clientSecret, redirectUrl, kind: 'configured' };
  }
  const document = documentOf(login, server);
  if (document !== undefined) return { id: document, redirectUrl, kind: 'document', method: 'none' };
  if (earlier?.kind === 'registered' && earlier.redirectUrl === redirectUrl && isValid(earlier, choice.now))
    return earlier;
  if (server.registration_endpoint !== undefined) return register(choice, requests);
  throw new GatewayError('UPSTREAM_LOGIN_FAILED', {
    server: choice.name,
    reason: `${server.issuer} does not let clients register; register one there and give its clientId`,
  });
}

/** The metadata document that we are known by; undefined where the authorization server does not support them. */
function documentOf({ clientMetadataUrl }: LoginOptions, server: AuthorizationServer): string | undefined {
  return server['client_id_metadata_document_supported'] === true ? clientMetadataUrl : undefined;
}

function isValid({ secretExpiresAt = 0, isForgotten = false }: LoginClient, now: number): boolean {
  return !isForgotten && (secretExpiresAt === 0 || secretExpiresAt * 1000 > now);
}

async function register({ server, redirectUrl }: ClientChoice, requests: OAuthRequests): Promise<LoginClient> {
  const method = methodOf(server, undefined);
  const metadata = {
    client_name: 'Parley',
    application_type: 'native',
    redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
  };
  const response = await oauth.dynamicClientRegistrationRequest(server, metadata, requests.options);
  // Not by oauth4webapi, which refuses what many servers leave out (`client_secret_expires_at`, the status 201).
  const given: unknown = await response.json().catch(() => undefined);
  if (!response.ok || !isObject(given) || typeof given.client_id !== 'string') {
    throw new Error(`${server.issuer} did not register the client: ${saidIn(given) ?? `HTTP ${response.status}`}`);
  }
  return {
    id: given.client_id,
    secret: typeof given.client_secret === 'string' ? given.client_secret : undefined,
    secretExpiresAt: typeof given.client_secret_expires_at === 'number' ? given.client_secret_expires_at : undefined,
    method: typeof given.token_endpoint_auth_method === 'string' ? given.token_endpoint_auth_method : method,
    redirectUrl,
    kind: 'registered',
  };
}

/** How the client proves at the token endpoint who it is. */
export async function clientAuth(
  client: LoginClient,
  server: AuthorizationServer,
  login: LoginOptions,
): Promise<ClientAuth> {
  if (login.clientKey !== undefined && client.kind === 'configured') return keyAuth(login);
  if (client.secret === undefined || client.secret === '') return oauth.None();
  const method = client.method ?? methodOf(server, client.secret);
  if (method === 'client_secret_post') return oauth.ClientSecretPost(client.secret);
  return method === 'none' ? oauth.None() : basicAuth(client.secret);
}

/** Encoded as the standard says, but no more than needed: many servers do not decode `%2D`. */
function basicAuth(secret: string): ClientAuth {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return (_server, { client_id: id }, _body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`);
  };
}

async function keyAuth({
  clientKey = '',
  clientKeyAlgorithm = 'ES256',
  clientKeyId,
}: LoginOptions): Promise<ClientAuth> {
  const { importPKCS8 } = await import('jose');
  const pem = typeof clientKey === 'string' ? clientKey : await clientKey();
  const key = await importPKCS8(pem, clientKeyAlgorithm);
  return oauth.PrivateKeyJwt({ key, ...(clientKeyId !== undefined && { kid: clientKeyId }) });
}

/** A client without a secret has the least to lose; else the method that keeps the secret out of bodies. */
function methodOf(server: AuthorizationServer, secret: string | undefined): string {
  const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const wanted = ['client_secret_basic', 'client_secret_post', 'none'];
  if (secret === undefined) wanted.unshift('none');
  return wanted.find((method) => supported.includes(method)) ?? 'client_secret_basic';
}

/** The parameter that names the authorization server. */
export const MARK = 'as';

interface LoginRedirect {
  back: string;
  /** What the mark must be when the browser is back; undefined: no mark. */
  mark: string | undefined;
}

/**
 * The redirect URL of a login. An authorization server that does not name itself in its redirects (RFC 9207) gets one of its own: if an attacker's
 * server sends the browser on to another one, the code comes back at that one's URL, and is refused (RFC 9700, mix-up). Only a client that registers
 * itself can have such a URL.
 */
export function redirectFor(redirectUrl: string, server: AuthorizationServer, login: LoginOptions): LoginRedirect {
  const isNamed = server.authorization_response_iss_parameter_supported === true;
  if (login.clientId !== undefined || documentOf(login, server) !== undefined || isNamed)
    return { back: redirectUrl, mark: undefined };
  const mark = smallDigest(server.issuer);
  const back = new URL(redirectUrl);
  back.searchParams.set(MARK, mark);
  return { back: back.href, mark };
}

/** The code of an OAuth error and what it says to people, which is where the reason is. */
function saidIn(answer: unknown): string | undefined {
  const { error, error_description: description } = isObject(answer) ? answer : {};
  if (typeof error !== 'string') return undefined;
  return typeof description === 'string' ? `${error}: ${description}` : error;
}
