// What clients ask before they log in: for which URL tokens are, and who issues them (RFC 9728).
import { UPGRADES } from '../http/upgrades.ts';
import type { HttpResponse } from '../../../kernel/base/http.ts';
import { ALGORITHMS } from './auth-options.ts';
import type { AuthOptions } from './auth-options.ts';
import type { TokenVerifier } from './token-verifier.ts';

export interface WellKnownRequest {
  path: string;
  /** The URL of /mcp. */
  endpoint: string | undefined;
}

const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Clients of 2025 look for the issuer at our own address. */
const ISSUER_PATH = '/.well-known/oauth-authorization-server';

export async function answerWellKnown(
  { path, endpoint }: WellKnownRequest,
  { tokens, auth }: { tokens: TokenVerifier; auth: AuthOptions },
  response: HttpResponse,
): Promise<void> {
  if (path === ISSUER_PATH && tokens.first) return answer(response, await tokens.first.metadata());
  const resource = endpoint && path.startsWith(METADATA_PATH) ? resourceAt(path, endpoint) : undefined;
  if (resource === undefined) return void response.writeHead(404).end();
  const scopes = [...new Set([...(auth.scopes ?? []), ...Object.values(auth.toolScopes ?? {}).flat()])];
  answer(response, {
    resource,
    authorization_servers: tokens.issuers,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ALGORITHMS,
    ...(auth.dpop?.required && { dpop_bound_access_tokens_required: true }),
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  });
}

/** The resource whose metadata is at this path; the whole endpoint at the root. */
function resourceAt(path: string, endpoint: string): string | undefined {
  const rest = path.slice(METADATA_PATH.length);
  if (rest === '' || rest === '/') return endpoint;
  const wanted = new URL(endpoint).origin + rest;
  return isResource(wanted, endpoint) ? wanted : undefined;
}

/** Whether tokens can be for this URL: the endpoint, one of its parts, or another transport of it. */
export function isResource(url: string, endpoint: string): boolean {
  const beside = endpoint.slice(0, endpoint.lastIndexOf('/'));
  const isPart = url.startsWith(`${endpoint}/`) && /^[^/?#]+$/.test(url.slice(endpoint.length + 1));
  const others = ['/sse', ...UPGRADES.map(({ path }) => path)];
  return isPart || url === endpoint || others.some((path) => url === beside + path);
}

function answer(response: HttpResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' });
  response.end(JSON.stringify(body));
}

/** Where the metadata of a resource is: the well-known path stands before its own path. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${METADATA_PATH}${pathname}`;
}
