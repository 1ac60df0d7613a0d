// What `auth` of createGateway, createServer and the configuration file says: who may call, and how callers prove who they are.

export interface AuthOptions {
  /**
   * One secret for all callers, who stay anonymous: it keeps out others who reach the port. Instead of everything below but `keyFile`, whose
   * keys are taken as well and name their callers. `parley serve` makes one by itself.
   */
  token?: string | undefined;
  /** API keys, each with a name. */
  keys?: readonly ApiKeyOptions[] | undefined;
  /** A file with more keys, as `parley key` writes it. It is read again when it changes. */
  keyFile?: string | undefined;
  /** OpenID and OAuth issuers whose access tokens are accepted, such as https://login.example.com. */
  issuers?: readonly (string | IssuerOptions)[] | undefined;
  /** Scopes that every caller needs. */
  scopes?: readonly string[] | undefined;
  /** Scopes that the call of a tool needs, by names or globs of tools. */
  toolScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Headers about the caller, for steps and rules (`headers`), such as one that a proxy sets. Clients can send any header that the
   * proxy lets through.
   */
  headers?: readonly string[] | undefined;
  /** The scope for /status and /metrics. Default: `admin`. */
  adminScope?: string | undefined;
  /** An authorization server in front of an identity provider at which clients cannot register. Needs `publicUrl` and oidc-provider. */
  front?: FrontOptions | undefined;
  /** What is asked beyond checking the proofs of tokens that are bound to a key of their client. */
  dpop?: DpopOptions | undefined;
}

export interface ApiKeyOptions {
  name: string;
  /** The key itself, or its `hash`: `sha256:` and 64 hexadecimal digits. */
  key?: string | undefined;
  hash?: string | undefined;
  /** Who uses it: keys with the same user share sessions, questions and tasks. Default: the name of the key. */
  user?: string | undefined;
  /** What it allows. Default: everything but `adminScope`. */
  scopes?: readonly string[] | undefined;
  groups?: readonly string[] | undefined;
  /** ISO 8601. Default: never. */
  expires?: string | undefined;
}

export interface IssuerOptions {
  issuer: string;
  /** What else `aud` may be besides the URL of the endpoint, for issuers without resource indicators. */
  audience?: string | readonly string[] | undefined;
  /** Default: what the metadata of the issuer says. */
  jwksUrl?: string | undefined;
  /** Default: the asymmetric ones. */
  algorithms?: readonly string[] | undefined;
  /** The claim that lists groups. Default: `groups`. */
  groupsClaim?: string | undefined;
  /** This gateway as a client of the issuer: people log in there at the pages of the gateway. */
  pages?: PageLoginOptions | undefined;
  /** For tokens that are not JWTs: asks the issuer (RFC 7662). */
  introspection?: IntrospectionOptions | undefined;
}

interface PageLoginOptions {
  /** As it is registered there. Its redirect is `<publicUrl>/ask/callback`. */
  clientId: string;
  clientSecret?: string | undefined;
  /** What is asked for there. Default: openid, profile, email. */
  scopes?: readonly string[] | undefined;
}

export interface IntrospectionOptions {
  clientId: string;
  clientSecret: string;
  /** Default: what the metadata of the issuer says. */
  url?: string | undefined;
  /** How long an answer counts. Default 10000. */
  cacheMs?: number | undefined;
}

/** The identity provider at which people log in, where clients cannot register themselves there. */
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

interface DpopOptions {
  /** Tokens of issuers that are bound to no key are refused. */
  required?: boolean | undefined;
  /** Proofs need a nonce of this gateway. */
  nonce?: boolean | undefined;
}

export const DEFAULT_ADMIN_SCOPE = 'admin';

/** How tokens and proofs may be signed. With symmetric ways, everybody who can check a signature can make one. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The path of the authorization server, next to /mcp. */
export const FRONT_PATH = '/oauth';

/** Whether everybody can have an account at this issuer. */
export function isForEverybody(issuer: string): boolean {
  return /^https:\/\/(accounts\.google\.com|login\.microsoftonline\.com\/(common|consumers))/.test(issuer);
}

/** The engine, which has to be installed next to Parley. Throws BAD_OPTION if it is not. */
export async function loadFrontEngine() {
  return import('oidc-provider').catch(async (cause: unknown) => {
    throw (await import('./front/engine-missing.ts')).engineMissing(cause);
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
