// What `auth.front` says: the identity provider at which people log in, where clients cannot register themselves there.
import { GatewayError } from '../../../../shared/errors.ts';
export interface FrontOptions {
  /** The OpenID issuer at which people log in, such as https://accounts.google.com. */
  issuer: string;
  /** This gateway, as it is registered there. Its redirect is `<publicUrl>/oauth/callback`. */
  clientId: string;
  clientSecret?: string | undefined;
  /** What is asked for there. Default: openid, profile, email. */
  scopes?: readonly string[] | undefined;
  /**
   * Who may log in, by claims of the ID token: each claim named here must have, or hold, one of the values. Default: everybody whom the
   * issuer knows.
   */
  allow?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** The claim that lists groups. Default: `groups`. */
  groupsClaim?: string | undefined;
  /** Where clients, logins and keys are kept. Default: in memory, until the gateway ends. */
  folder?: string | undefined;
  /** Clients that need not register, such as services that bring assertions. */
  clients?: readonly FrontClient[] | undefined;
  /** Identity providers whose assertions (ID-JAG) are exchanged for tokens. */
  assertions?: readonly string[] | undefined;
}

interface FrontClient {
  clientId: string;
  clientSecret: string;
  name?: string | undefined;
  redirects?: readonly string[] | undefined;
}

/** The path of the authorization server, next to /mcp. */
export const FRONT_PATH = '/oauth';

/** Whether everybody can have an account at this issuer. */
export function isForEverybody(issuer: string): boolean {
  return /^https:\/\/(accounts\.google\.com|login\.microsoftonline\.com\/(common|consumers))/.test(issuer);
}

/** The engine, which has to be installed next to Parley. Throws BAD_OPTION if it is not. */
export async function loadFrontEngine() {
  return import('oidc-provider').catch((cause: unknown) => {
    const reason = 'it needs the package oidc-provider: npm install oidc-provider';
    throw new GatewayError('BAD_OPTION', { option: 'auth.front', reason }, { cause });
  });
}

/**
 * What is wrong with the URL of an issuer; undefined if it can be one. OAuth and OpenID forbid queries and fragments in it (RFC 8414, section 2).
 * Never repeats it: it may have a password in it.
 */
export function issuerProblem(issuer: string): string | undefined {
  if (!/^https?:/.test(issuer) || !URL.canParse(issuer)) return 'the issuer is not an https:// URL';
  const { username, password } = new URL(issuer);
  if (username !== '' || password !== '') return 'the URL of an issuer must not have a user name or password';
  const forbidden = ['#', '?'].find((one) => issuer.includes(one));
  return forbidden && `the URL of an issuer must not have a "${forbidden}"`;
}
