// Checks the credential of every request: an API key, or an access token of a configured issuer. A caller without one is refused.
import type { Identity } from '../../../protocol/exchange.ts';
import { missingScopes } from '../../../protocol/exchange.ts';
import type { Message } from '../../../protocol/message.ts';
import { isRequest } from '../../../protocol/message.ts';
import type { HttpResponse } from '../../../shared/http.ts';
import type { IdentifyRequest } from '../identify.ts';
import type { LoginContext } from '../login.ts';
import { metadataUrlOf } from '../http/resource-url.ts';
import { ApiKeys } from './api-keys.ts';
import type { AuthOptions } from './auth-options.ts';
import { readCredential } from './bearer.ts';
import { insufficientScope, unauthorized } from './challenge.ts';
import { InvalidToken, TokenVerifier } from './token-verifier.ts';
import { answerWellKnown } from './well-known.ts';
import type { WellKnownRequest } from './well-known.ts';

export class Authenticator {
  readonly #auth: AuthOptions;
  readonly #context: LoginContext;
  readonly #keys: ApiKeys;
  readonly #tokens: TokenVerifier | undefined;
  /** What every caller needs. */
  readonly #scopes: readonly string[];

  constructor(auth: AuthOptions, context: LoginContext) {
    const { keys, keyFile, issuers = [], scopes = [] } = auth;
    const { clock, log } = context;
    this.#auth = auth;
    this.#context = context;
    this.#scopes = scopes;
    this.#keys = new ApiKeys({ keys, keyFile, clock, log });
    this.#tokens = issuers.length > 0 ? new TokenVerifier(issuers, { clock, log }) : undefined;
  }

  /** Throws UNAUTHORIZED or INSUFFICIENT_SCOPE. Synchronous for keys, and for tokens that were seen before. */
  identify({ headers, resource, endpoint }: IdentifyRequest): Identity | Promise<Identity> {
    const credential = readCredential(headers.authorization);
    if (!credential) throw this.#refusal('the request has no key and no token', resource);
    const known = this.#keys.find(credential.token);
    if (known) return this.#allow(known, resource);
    if (!this.#tokens || credential.scheme !== 'Bearer') throw this.#toRefusal(new InvalidToken(UNKNOWN), resource);
    try {
      const found = this.#tokens.verify(credential.token, [resource, endpoint]);
      if (!(found instanceof Promise)) return this.#allow(found, resource);
      return found.then(
        (identity) => this.#allow(identity, resource),
        (error: unknown) => {
          throw this.#toRefusal(error, resource);
        },
      );
    } catch (error) {
      throw this.#toRefusal(error, resource);
    }
  }

  /** Throws INSUFFICIENT_SCOPE for a call that needs more than the caller may do. */
  checkCall(message: Message, identity: Identity, resource: string | undefined): void {
    const { neededScopes } = this.#context;
    if (!neededScopes || !isRequest(message) || message.method !== 'tools/call') return;
    const { name } = message.params ?? {};
    const needed = typeof name === 'string' ? neededScopes(name) : [];
    if (missingScopes(identity, needed).length > 0) throw insufficientScope(needed, this.#metadataOf(resource));
  }

  /** What clients ask before they log in. */
  async answer(asked: WellKnownRequest, response: HttpResponse): Promise<void> {
    if (this.#tokens) await answerWellKnown(asked, { tokens: this.#tokens, auth: this.#auth }, response);
    else response.writeHead(404).end();
  }

  close(): void {
    this.#keys.close();
  }

  #allow(identity: Identity, resource: string | undefined): Identity {
    if (missingScopes(identity, this.#scopes).length === 0) return identity;
    throw insufficientScope(this.#scopes, this.#metadataOf(resource));
  }

  #refusal(reason: string, resource: string | undefined, error?: 'invalid_token') {
    const description = error && reason;
    return unauthorized(reason, { metadata: this.#metadataOf(resource), scopes: this.#scopes, error, description });
  }

  #toRefusal(error: unknown, resource: string | undefined): unknown {
    return error instanceof InvalidToken ? this.#refusal(error.message, resource, 'invalid_token') : error;
  }

  #metadataOf(resource: string | undefined): string | undefined {
    return this.#tokens && resource !== undefined ? metadataUrlOf(resource) : undefined;
  }
}

const UNKNOWN = 'the key or token is not valid';
