// Reads the credential of a request. It is taken from the Authorization header alone: URLs end up in logs and histories.
export interface Credential {
  readonly scheme: 'Bearer' | 'DPoP';
  readonly token: string;
}

const MAX_CHARS = 16 * 1024;
/** RFC 6750, 2.1. */
const FORM = /^(Bearer|DPoP) +([A-Za-z0-9\-._~+/]+=*)$/i;

/** Undefined without a credential, or for one that cannot be valid. */
export function readCredential(authorization: string | undefined): Credential | undefined {
  if (authorization === undefined || authorization.length > MAX_CHARS) return undefined;
  const [, scheme, token] = FORM.exec(authorization) ?? [];
  if (token === undefined) return undefined;
  return { scheme: scheme!.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}
