// Finds out who logs people in for a server, and what it demands: its refusal (WWW-Authenticate) names its protected-resource metadata (RFC 9728), which
// names the authorization server, whose own metadata (RFC 8414 or OpenID) names the endpoints. A server of 2025-03-26 has no such metadata and is its own
// authorization server. All of it comes from strangers: it is fetched with the guarded fetch and checked against the server's URL.
import type { AuthorizationServer } from 'oauth4webapi';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { UnsafeUrlError } from '../../../kernel/net/guarded-fetch.ts';
import type { GuardedFetch } from '../../../kernel/net/guarded-fetch.ts';
import type { HttpHeaders } from '../http/http-response.ts';

export interface LoginAuthority {
  /** The metadata of the authorization server. */
  server: AuthorizationServer;
  /** The resource indicator; undefined for a server without metadata, whose authorization server may not know them. */
  resource: string | undefined;
  scopesSupported: string[] | undefined;
  requiresDpop: boolean;
}

const NO_RESOURCE = { resource: undefined, scopesSupported: undefined, requiresDpop: false };

export async function discoverAuthority(
  url: URL,
  metadataUrl: string | undefined,
  fetch: GuardedFetch,
): Promise<LoginAuthority> {
  const resource = await fetchResourceMetadata(url, metadataUrl, fetch);
  if (resource === undefined) return { ...NO_RESOURCE, server: await ownAuthority(url, fetch) };
  checkResource(resource, url);
  const [issuer = url.origin] = texts(resource.authorization_servers);
  const found = await fetchAuthority(issuer, fetch);
  if (found === undefined) throw new Error(`the authorization server ${issuer} has no metadata`);
  checkPkce(found);
  return {
    server: found,
    resource: String(resource.resource),
    scopesSupported: Array.isArray(resource.scopes_supported) ? texts(resource.scopes_supported) : undefined,
    requiresDpop: resource.dpop_bound_access_tokens_required === true,
  };
}

async function fetchResourceMetadata(
  url: URL,
  named: string | undefined,
  fetch: GuardedFetch,
): Promise<JsonObject | undefined> {
  const known = '/.well-known/oauth-protected-resource';
  const path = url.pathname.replace(/\/$/, '');
  const places = named === undefined ? [`${known}${path}`, known] : [named];
  for (const place of new Set(places)) {
    const metadata = await fetchJson(new URL(place, url), fetch);
    if (metadata !== undefined) return metadata;
  }
  if (named !== undefined) throw new Error('the metadata that the server names cannot be read');
  return undefined;
}

/** A token for another resource must not be asked for: its owner would be the one to get it. */
function checkResource({ resource }: JsonObject, url: URL): void {
  const named = typeof resource === 'string' && URL.canParse(resource) ? new URL(resource) : undefined;
  const path = (named?.pathname ?? '').replace(/\/$/, '');
  const isWithin = url.pathname === path || url.pathname.startsWith(`${path}/`);
  if (named?.origin === url.origin && isWithin) return;
  throw new Error(`the metadata is about another resource (${String(resource)})`);
}

/** As 2025-03-26 says: metadata at the root, or the usual paths. */
async function ownAuthority({ origin }: URL, fetch: GuardedFetch): Promise<AuthorizationServer> {
  const found = await fetchAuthority(origin, fetch);
  if (found !== undefined) return found;
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
}

async function fetchAuthority(issuer: string, fetch: GuardedFetch): Promise<AuthorizationServer | undefined> {
  for (const place of placesOf(new URL(issuer))) {
    const metadata = await fetchJson(place, fetch);
    if (metadata === undefined) continue;
    // Exactly, so that nobody can pass for another; only the slash of an empty path may differ.
    if (metadata.issuer !== issuer && `${String(metadata.issuer)}/` !== issuer && metadata.issuer !== `${issuer}/`) {
      throw new Error(`the metadata of ${issuer} is that of another issuer (${String(metadata.issuer)})`);
    }
    return metadata as unknown as AuthorizationServer;
  }
  return undefined;
}

function placesOf({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '');
  const places = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  if (path !== '') places.push(`${path}/.well-known/openid-configuration`);
  return places.map((place) => new URL(place, origin));
}

/** Without PKCE a stolen code is a stolen login. */
function checkPkce({
  code_challenge_methods_supported: methods,
  issuer,
  authorization_endpoint: page,
}: AuthorizationServer) {
  if (page === undefined || methods?.includes('S256')) return;
  throw new Error(`the authorization server ${issuer} does not support PKCE with S256`);
}

/** Undefined if there is no such document. */
async function fetchJson(url: URL, fetch: GuardedFetch): Promise<JsonObject | undefined> {
  const response = await fetch(url, { headers: { accept: 'application/json' } });
  if (response.status !== 200) return undefined;
  try {
    const read: unknown = await response.json();
    return isObject(read) ? read : undefined;
  } catch (error) {
    if (error instanceof UnsafeUrlError) throw error;
    return undefined; // an error page
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export interface LoginChallenge {
  /** The schemes that the server names, in lower case. */
  schemes: string[];
  /** URL of the protected-resource metadata. */
  resourceMetadata?: string | undefined;
  scope?: string | undefined;
  error?: string | undefined;
  /** A nonce for the next DPoP proof. */
  nonce?: string | undefined;
}

const MAX_CHARS = 8192;
/** A scheme, or a parameter: name, then a quoted text or a token. */
const PART = /([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g;

/** Leaves out what is malformed. */
export function readChallenge(headers: HttpHeaders): LoginChallenge {
  const given = [headers['www-authenticate'] ?? []].flat().join(', ').slice(0, MAX_CHARS);
  const challenge: LoginChallenge = { schemes: [] };
  const found = new Map<string, string>();
  for (const [, name = '', quoted, token] of given.matchAll(PART)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
    if (value === undefined) challenge.schemes.push(name.toLowerCase());
    // With several challenges, such as Bearer and DPoP, the first that says something is taken.
    else if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  const nonce = [headers['dpop-nonce'] ?? []].flat()[0];
  return {
    ...challenge,
    resourceMetadata: found.get('resource_metadata'),
    scope: found.get('scope') || undefined,
    error: found.get('error'),
    nonce,
  };
}
