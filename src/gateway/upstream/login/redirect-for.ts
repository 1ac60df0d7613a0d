// The redirect URL of a login. An authorization server that does not name itself in its redirects (RFC 9207) gets one of its own: if an
// attacker's server sends the browser on to another one, the code comes back at that one's URL, and is refused (RFC 9700, mix-up).
// Only a client that registers itself can have such a URL.
import type { AuthorizationServer } from 'oauth4webapi';
import { smallDigest } from '../../../shared/short-name.ts';
import type { LoginOptions } from './server-login.ts';

/** The parameter that names the authorization server. */
export const MARK = 'as';

export interface LoginRedirect {
  back: string;
  /** What the mark must be when the browser is back; undefined: no mark. */
  mark: string | undefined;
}

export function redirectFor(redirectUrl: string, server: AuthorizationServer, login: LoginOptions): LoginRedirect {
  const isDocument = login.clientMetadataUrl !== undefined && server['client_id_metadata_document_supported'] === true;
  const isNamed = server.authorization_response_iss_parameter_supported === true;
  if (login.clientId !== undefined || isDocument || isNamed) return { back: redirectUrl, mark: undefined };
  const mark = smallDigest(server.issuer);
  const back = new URL(redirectUrl);
  back.searchParams.set(MARK, mark);
  return { back: back.href, mark };
}
