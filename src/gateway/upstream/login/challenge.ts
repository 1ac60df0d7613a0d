// Reads the WWW-Authenticate header of a refusal. It comes from a stranger: whatever is malformed is left out.
import type { HttpHeaders } from '../http/http-exchange.ts';

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
