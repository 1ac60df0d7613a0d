// To which places a client may ask to be sent back. Everybody may register clients, and a browser hands URLs of other schemes to the programs of
// the system: so only web pages, this machine, and schemes that belong to an app are taken (RFC 8252), never the gateway itself.
import { isLoopbackHost } from '../../../../shared/net/address-kind.ts';

/** Of clients whose schemes have no dot in them, as RFC 8252 (7.1) wants it. */
const CLIENT_SCHEMES = ['cursor:', 'vscode:', 'vscode-insiders:', 'vscodium:', 'windsurf:', 'claude:', 'zed:'];
const OF_AN_APP = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/** `issuer`: the URL of this authorization server. */
export function isRedirectAllowed(redirect: string, issuer: string): boolean {
  if (!URL.canParse(redirect)) return false;
  const { protocol, hostname, origin, username, password } = new URL(redirect);
  if (protocol !== 'https:' && protocol !== 'http:')
    return CLIENT_SCHEMES.includes(protocol) || OF_AN_APP.test(protocol);
  if (origin === new URL(issuer).origin || username !== '' || password !== '') return false;
  return protocol === 'https:' || isLoopbackHost(hostname);
}
