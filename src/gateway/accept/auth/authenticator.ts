// Checks the credential of every request: an API key, or an access token of a configured issuer. A caller without one is refused.
import type { Identity } from '../../../protocol/exchange.ts';
import { missingScopes } from '../../../protocol/exchange.ts';
import type { Message } from '../../../protocol/message.ts';
import { isRequest } from '../../../protocol/message.ts';
import type { HttpHandler } from '../../../shared/http.ts';
import type { IdentifyRequest } from '../identify.ts';
import type { LoginContext } from '../login.ts';
import type { AuthOptions } from './auth-options.ts';
import { readCredential } from './bearer.ts';
import { insufficientScope, unauthorized } from './challenge.ts';
import { ApiKeys } from './api-keys.ts';

export interface Authenticator {
  /** Throws UNAUTHORIZED or INSUFFICIENT_SCOPE. Synchronous for keys, and for tokens that were seen before. */
  identify(request: IdentifyRequest): Identity | Promise<Identity>;
  /** Throws INSUFFICIENT_SCOPE. */
  checkCall(message: Message, identity: Identity, resource: string | undefined): void;
  answerWellKnown(asked: WellKnownRequest, ...http: Parameters<HttpHandler>): void;
  close(): void;
}

export interface WellKnownRequest {
  path: string;
  /** The URL of /mcp. */
  resource: string | undefined;
}

export function createAuthenticator(auth: AuthOptions, context: LoginContext): Authenticator {
  const { scopes: needed = [], keys, keyFile } = auth;
  const ring = new ApiKeys({ keys, keyFile, clock: context.clock, log: context.log });
  const metadataOf = (_resource: string | undefined): string | undefined => undefined;
  const refuse = (reason: string, resource: string | undefined, error?: 'invalid_token'): never => {
    const description = error && reason;
    throw unauthorized(reason, { metadata: metadataOf(resource), scopes: needed, error, description });
  };
  const allow = (identity: Identity, resource: string | undefined): Identity => {
    if (missingScopes(identity, needed).length > 0) throw insufficientScope(needed, metadataOf(resource));
    return identity;
  };
  return {
    identify({ headers, resource }) {
      const credential = readCredential(headers.authorization);
      if (!credential) return refuse('the request has no key and no token', resource);
      const known = ring.find(credential.token);
      if (known) return allow(known, resource);
      return refuse('the key or token is not valid', resource, 'invalid_token');
    },
    checkCall(message, identity, resource) {
      if (!context.neededScopes || !isRequest(message) || message.method !== 'tools/call') return;
      const { name } = message.params ?? {};
      const wanted = typeof name === 'string' ? context.neededScopes(name) : [];
      if (missingScopes(identity, wanted).length > 0) throw insufficientScope(wanted, metadataOf(resource));
    },
    answerWellKnown(_asked, _request, response) {
      response.writeHead(404).end();
    },
    close: () => ring.close(),
  };
}
