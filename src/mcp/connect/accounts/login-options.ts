// How to log in at a server.
/** How to log in at a server. Without any of it, the server's own metadata decides and a person logs in. */
export interface LoginOptions {
  /** A client that was registered by hand at the authorization server. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** A private key (PKCS #8, PEM) instead of a secret, with its algorithm (default ES256) and id. */
  clientKey?: string | (() => string | Promise<string>) | undefined;
  clientKeyAlgorithm?: string | undefined;
  clientKeyId?: string | undefined;
  /** The https URL of a client-id metadata document; used where the authorization server supports them. */
  clientMetadataUrl?: string | undefined;
  /**
   * The issuer that the secret, key or assertion is for: it is sent to no other. Default: the first one that the server names, which is remembered with the
   * logins; a change is an error.
   */
  issuer?: string | undefined;
  /** Scopes to ask for, if the server does not name any. */
  scopes?: readonly string[] | undefined;
  /**
   * Default: a person logs in with a browser. `client_credentials`: the client itself. `jwt_bearer`: `assertion` is exchanged.
   * `id_jag`: an enterprise identity provider (`idp`) vouches for the user. `token_exchange`: the token with which a user called
   * the gateway is exchanged (`exchange`), for each user.
   */
  grant?: 'client_credentials' | 'jwt_bearer' | 'id_jag' | 'token_exchange' | undefined;
  /** A JWT of the platform that runs this process. */
  assertion?: string | (() => string | Promise<string>) | undefined;
  idp?: EnterpriseLogin | undefined;
  exchange?: TokenExchange | undefined;
  /** Bind tokens to a key (DPoP). Default: if the server demands it. */
  dpop?: boolean | undefined;
  /** The loopback port of the redirect, if the client was registered with one. */
  callbackPort?: number | undefined;
  /** Hosts of the login that may have private addresses. */
  hosts?: readonly string[] | undefined;
}

/** The identity provider of a company, which issues grants for servers (ID-JAG). */
export interface EnterpriseLogin {
  /** Its token endpoint. */
  tokenEndpoint: string;
  clientId: string;
  clientSecret?: string | undefined;
  /** The ID token of the user. */
  idToken: string | (() => string | Promise<string>);
}

/** Where a user's token is exchanged for one of a server (RFC 8693). */
export interface TokenExchange {
  tokenEndpoint: string;
  /** Whom the token is for. Default: `resource`. */
  audience?: string | undefined;
  /** Default: the URL of the server. */
  resource?: string | undefined;
}
