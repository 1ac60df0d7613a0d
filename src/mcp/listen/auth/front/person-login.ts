// Lets a person log in at the identity provider of the company, as an OpenID client (code, PKCE, nonce, `iss`).
import * as oauth from 'oauth4webapi';
import { createGuardedFetch } from '../../../../kernel/net/guarded-fetch.ts';
import { isLoopbackHost } from '../../../../kernel/net/address-kind.ts';
import type { FrontOptions } from '../auth-options.ts';

/** What has to come back. */
export interface PersonAttempt {
  state: string;
  nonce: string;
  verifier: string;
}

export type PersonClaims = Record<string, unknown> & { sub: string };

/** Its message is for the person. */
export class RefusedPerson extends Error {
  /** As the identity provider names them. */
  readonly person: string;

  /** For the operator. */
  readonly reason: string;

  constructor(message: string, person: string, reason: string) {
    super(message);
    this.person = person;
    this.reason = reason;
  }
}

type Requests = oauth.DiscoveryRequestOptions & oauth.TokenEndpointRequestOptions;

export class PersonLogin {
  readonly #options: FrontOptions;
  readonly #redirect: string;
  readonly #requests: Requests;
  #server: Promise<oauth.AuthorizationServer> | undefined;

  constructor(options: FrontOptions, redirect: string) {
    this.#options = options;
    this.#redirect = redirect;
    const { hostname } = new URL(options.issuer);
    const guarded = createGuardedFetch({ loopback: isLoopbackHost(hostname), hosts: [hostname] });
    this.#requests = {
      [oauth.customFetch]: (
        url: string,
        { method, headers, body, signal }: oauth.CustomFetchOptions<string, unknown>,
      ) => guarded(url, { method, headers, body: body as URLSearchParams | null, signal }),
      [oauth.allowInsecureRequests]: true, // the guarded fetch decides
    };
  }

  newAttempt(): PersonAttempt {
    return {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
    };
  }

  /** `prompt`: as OpenID has it; `login` lets them say who they are once more. */
  async pageFor({ state, nonce, verifier }: PersonAttempt, prompt?: 'login'): Promise<string> {
    const { authorization_endpoint: page } = await this.#discover();
    if (page === undefined) throw new Error('the metadata of the issuer names no page to log in');
    const { clientId, scopes = ['openid', 'profile', 'email'] } = this.#options;
    const url = new URL(page);
    const all = {
      client_id: clientId,
      response_type: 'code',
      redirect_uri: this.#redirect,
      scope: [...new Set(['openid', ...scopes])].join(' '),
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(prompt && { prompt }),
    };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  }

  /** The claims of the person who came back. Throws RefusedPerson for one who may not log in. */
  async finish(query: URLSearchParams, { state, nonce, verifier }: PersonAttempt): Promise<PersonClaims> {
    const server = await this.#discover();
    const client: oauth.Client = { client_id: this.#options.clientId };
    const parameters = oauth.validateAuthResponse(server, client, query, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      this.#clientAuth(),
      parameters,
      this.#redirect,
      verifier,
      this.#requests,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    const claims = oauth.getValidatedIdTokenClaims(tokens) as PersonClaims | undefined;
    if (!claims || claims.sub === '') throw new Error('the issuer named nobody');
    const reason = whyRefused(claims, this.#options.allow ?? {});
    if (reason !== undefined)
      throw new RefusedPerson(
        'This account may not use this gateway.',
        `${this.#options.issuer}#${claims.sub}`,
        reason,
      );
    return claims;
  }

  #clientAuth(): oauth.ClientAuth {
    const { clientSecret } = this.#options;
    return clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret);
  }

  #discover(): Promise<oauth.AuthorizationServer> {
    this.#server ??= this.#fetchMetadata().catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  async #fetchMetadata(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.#options.issuer);
    const response = await oauth.discoveryRequest(issuer, { ...this.#requests, algorithm: 'oidc' });
    return oauth.processDiscoveryResponse(issuer, response);
  }
}

/** Undefined for somebody who may log in. An e-mail address counts only if the issuer has verified it. */
export function whyRefused(
  claims: Record<string, unknown>,
  allow: NonNullable<FrontOptions['allow']>,
): string | undefined {
  for (const [name, wanted] of Object.entries(allow)) {
    if (!Object.hasOwn(claims, name)) return `the ID token has no claim ${name}`;
    if (name === 'email' && claims['email_verified'] !== true)
      return 'the ID token does not say that the email is verified';
    const has = [claims[name]].flat();
    if (![wanted].flat().some((one) => has.includes(one))) return `its ${name} is not among the allowed`;
  }
  return undefined;
}
