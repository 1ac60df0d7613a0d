// The two headers of a login: Authorization, which has the credential of a request, and WWW-Authenticate, which says what to do about a refusal
// (RFC 6750, RFC 9728).
import { GatewayError } from '../../../kernel/base/errors.ts';
import { ALGORITHMS } from './auth-options.ts';

export interface Credential {
  readonly scheme: 'Bearer' | 'DPoP';
  readonly token: string;
}

const MAX_CHARS = 16 * 1024;
/** RFC 6750, 2.1. */
const FORM = /^(Bearer|DPoP) +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Undefined without a credential, or for one that cannot be valid. It is taken from this header alone: URLs end up in logs and histories.
 */
export function readCredential(authorization: string | undefined): Credential | undefined {
  if (authorization === undefined || authorization.length > MAX_CHARS) return undefined;
  const [, scheme, token] = FORM.exec(authorization) ?? [];
  if (token === undefined) return undefined;
  return { scheme: scheme!.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}

export interface ChallengeParts {
  /** The URL of the protected resource metadata; undefined if no issuer is configured. */
  metadata?: string | undefined;
  scopes?: readonly string[] | undefined;
  error?: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof' | 'use_dpop_nonce' | undefined;
  description?: string | undefined;
  /** Default: Bearer. */
  scheme?: Credential['scheme'] | undefined;
  /** What the next proof has to name. */
  nonce?: string | undefined;
}

/** 401: there is no credential, or none that counts. */
export function unauthorized(reason: string, parts: ChallengeParts): GatewayError {
  const { nonce } = parts;
  return new GatewayError('UNAUTHORIZED', { reason, challenge: writeChallenge(parts), ...(nonce && { nonce }) });
}

/** 403: the credential is good, and allows too little. Names all the scopes that the request needs. */
export function insufficientScope(needed: readonly string[], metadata: string | undefined): GatewayError {
  const description = `this needs the scope ${needed.join(' ')}`;
  const challenge = writeChallenge({ error: 'insufficient_scope', scopes: needed, metadata, description });
  return new GatewayError('INSUFFICIENT_SCOPE', { scope: needed.join(' '), challenge });
}

function writeChallenge(given: ChallengeParts): string {
  const { metadata, scopes = [], error, description, scheme = 'Bearer' } = given;
  const parts = Object.entries({
    error,
    error_description: description,
    scope: scopes.length > 0 ? scopes.join(' ') : undefined,
    resource_metadata: metadata,
    algs: scheme === 'DPoP' ? ALGORITHMS.join(' ') : undefined,
  }).filter((part): part is [string, string] => part[1] !== undefined);
  const written = parts.map(([name, value]) => `${name}="${value.replace(/["\\]|[^\x20-\x7e]/g, '')}"`);
  return `${scheme} ${written.length > 0 ? written.join(', ') : 'realm="mcp"'}`;
}
