// Says why a login failed, without secrets: what the authorization server said of it, or what was wrong with its answer.
import * as oauth from 'oauth4webapi';
import { GatewayError } from '../../../shared/errors.ts';
import { shorten, printableLine } from '../../../shared/visible.ts';

const MAX_CHARS = 300;

export function loginFailure(thrown: unknown, server: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  // The cause may hold tokens, so it is not kept.
  return new GatewayError('UPSTREAM_LOGIN_FAILED', { server, reason: reasonOf(thrown) });
}

/** The code of an OAuth error, such as `invalid_grant`; undefined for any other failure. */
export function oauthErrorCode(thrown: unknown): string | undefined {
  const isAnswer = thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError;
  if (isAnswer) return thrown.error;
  if (!(thrown instanceof oauth.WWWAuthenticateChallengeError)) return undefined;
  // A token endpoint asks like this who the client is: the one that was named does not count.
  return thrown.cause[0]?.parameters.error ?? (thrown.status === 401 ? 'invalid_client' : undefined);
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof oauth.ResponseBodyError || thrown instanceof oauth.AuthorizationResponseError) {
    const said = thrown.error_description === undefined ? thrown.error : `${thrown.error}: ${thrown.error_description}`;
    return shorten(printableLine(said), MAX_CHARS);
  }
  const code = oauthErrorCode(thrown);
  if (code !== undefined) return shorten(printableLine(code), MAX_CHARS);
  return shorten(printableLine(thrown instanceof Error ? thrown.message : String(thrown)), MAX_CHARS);
}
