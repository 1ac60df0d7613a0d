// Checks the credential of every request: an API key, or an access token of a configured issuer. A caller without one is refused.
import { isDeepStrictEqual } from 'node:util';
import { findUpgrade } from '../http/upgrades.ts';
import { missingScopes } from '../../../kernel/exchange.ts';
import type { Identity } from '../../../kernel/exchange.ts';
import { isRequest } from '../../../kernel/message.ts';
import type { Message } from '../../../kernel/message.ts';
import { RUN_METHODS } from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { networkOf } from '../../../kernel/net/network.ts';
import type { HttpResponse } from '../../../kernel/base/http.ts';
import { LOGIN_TRIES } from '../../../kernel/base/limits.ts';
import type { IdentifyRequest } from '../identify.ts';
import type { CompleteContext } from './login-context.ts';
import { ApiKeys } from './api-keys.ts';
import { DEFAULT_ADMIN_SCOPE } from './auth-options.ts';
import type { AuthOptions } from './auth-options.ts';
import { readCredential, insufficientScope, unauthorized } from './credentials.ts';
import type { Credential, ChallengeParts } from './credentials.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import type { InvalidProof, ProofChecker } from './dpop.ts';
import type { Front } from './front/front.ts';
import { Issuer } from './issuer.ts';
import type { IssuerFetch } from './issuer.ts';
import { TokenVerifier, InvalidToken } from './token-verifier.ts';
import type { GoodToken } from './token-verifier.ts';
import { answerWellKnown, metadataUrlOf } from './well-known.ts';
import type { WellKnownRequest } from './well-known.ts';

const NO_KEY =
  'the request has no key. Send the header "Authorization: Bearer KEY"; on the machine of the gateway, "parley key add NAME" makes a key';
const NO_TOKEN =
  'the request has no key and no token. Log in where WWW-Authenticate says, or send the header "Authorization: Bearer KEY" ("parley key add NAME" makes a key)';

/** Further ones are recorded again when they come back. */
const MAX_CALLERS = 1000;

interface Refused {
  credential: Credential;
  resource: string | undefined;
  nonce?: string | undefined;
}

export class Authenticator {
  readonly #auth: AuthOptions;
  readonly #context: CompleteContext;
  readonly #keys: ApiKeys;
  readonly #tokens: TokenVerifier | undefined;
  #proofs: Promise<ProofChecker> | undefined;
  #front: Promise<Front> | undefined;
  #frontIsReady = false;
  /** Who has called before, for the audit log. */
  readonly #known = new WeakSet<Identity>();
  readonly #callers = new BoundedMap<string, true>(MAX_CALLERS);
  /** Bad tokens of an address. After too many, only tokens that can be verified with the keys at hand are checked. */
  /** What every caller needs. */
  readonly #scopes: readonly string[];

  constructor(auth: AuthOptions, context: CompleteContext) {
    const { keys, keyFile, issuers = [], scopes = [] } = auth;
    const { clock, log } = context;
    this.#auth = auth;
    this.#context = context;
    this.#scopes = scopes;
    this.#keys = new ApiKeys({ keys, keyFile, clock, log, state: context.state });
    this.#tokens = issuers.length > 0 || auth.front ? new TokenVerifier(issuers, { clock, log }) : undefined;
  }

  /** Before anybody is identified. */
  async open(): Promise<void> {
    await this.#keys.open();
  }

  get keys(): ApiKeys['list'] {
    return this.#keys.list;
  }

  /** Throws UNAUTHORIZED or INSUFFICIENT_SCOPE. Synchronous for keys, and for tokens that were seen before and are bound to no key. */
  identify(request: IdentifyRequest): Identity | Promise<Identity> {
    const { headers, resource, endpoint } = request;
    const credential = readCredential(headers.authorization);
    if (!credential) throw this.#refusal(this.#tokens ? NO_TOKEN : NO_KEY, resource);
    // A token that was seen before need not be hashed to be found among the keys.
    const isToken = credential.scheme === 'DPoP' || this.#tokens?.knows(credential.token) === true;
    const known = isToken ? undefined : this.#keys.find(credential.token);
    if (known) return this.#allow(known, request);
    if (!this.#tokens) throw this.#toRefusal(new InvalidToken(), { credential, resource });
    if (this.#auth.front && !this.#frontIsReady && endpoint !== undefined)
      return this.front(endpoint).then(() => this.identify(request));
    try {
      const found = this.#tokens.recall(credential.token, [resource, endpoint]);
      if (found && this.#isFree(found, credential)) return this.#allow(found.identity, request);
      return this.#identifyLater(found ?? this.#verify(credential.token, request), { credential, request });
    } catch (error) {
      throw this.#toRefusal(error, { credential, resource });
    }
  }

  /** Apart, so that no closure is made for a token that was seen before. */
  #verify(token: string, request: IdentifyRequest): Promise<GoodToken> {
    return this.#tokens!.verify(token, [request.resource, request.endpoint], () => this.#checkTries(request));
  }

  async #identifyLater(
    found: GoodToken | Promise<GoodToken>,
    { credential, request }: { credential: Credential; request: IdentifyRequest },
  ): Promise<Identity> {
    const { resource } = request;
    let checker: ProofChecker | undefined;
    try {
      const token = await found;
      if (this.#isFree(token, credential)) return this.#allow(token.identity, request);
      if (token.jkt === undefined) throw new InvalidToken('the token is bound to no key of its client (DPoP)');
      if (credential.scheme !== 'DPoP') throw new InvalidToken('the token needs a proof: send it as DPoP');
      checker = await (this.#proofs ??= this.#loadProofs());
      await checker.check(toProven(request, credential.token, token.jkt));
      return this.#allow(token.identity, request);
    } catch (error) {
      if (error instanceof InvalidToken) this.#context.memory.badTokens.count(networkOf(request.remoteAddress ?? ''));
      throw this.#toRefusal(error, { credential, resource, nonce: checker?.nonce });
    }
  }

  async #loadProofs(): Promise<ProofChecker> {
    const { clock, state = new MemoryState(clock) } = this.#context;
    return new (await import('./dpop.ts')).ProofChecker({ clock, state }, this.#auth.dpop);
  }

  /** API keys, known tokens, and tokens whose signature can be checked here are accepted nevertheless. */
  #checkTries({ remoteAddress = '' }: IdentifyRequest): void {
    const retryAfterMs = this.#context.memory.badTokens.waitMs(networkOf(remoteAddress));
    if (retryAfterMs === 0) return;
    throw new GatewayError('RATE_LIMITED', {
      what: 'an address',
      rate: LOGIN_TRIES,
      limit: 'bad tokens',
      retryAfterMs,
    });
  }

  /** Whether the token counts without a proof. One that is sent as DPoP and bound to nothing does not count at all. */
  #isFree({ jkt }: GoodToken, { scheme }: Credential): boolean {
    return jkt === undefined && scheme === 'Bearer' && !this.#auth.dpop?.required;
  }

  /** Throws INSUFFICIENT_SCOPE for a call that needs more than the caller may do. */
  checkCall(message: Message, identity: Identity, resource: string | undefined): void {
    const { neededScopes } = this.#context;
    if (!neededScopes || !isRequest(message)) return;
    const place = RUN_METHODS[message.method];
    const name = place && message.params?.[place.name];
    const needed = typeof name === 'string' ? neededScopes(name) : [];
    if (missingScopes(identity, needed).length > 0) throw insufficientScope(needed, this.#metadataOf(resource));
  }

  /** The authorization server in front, made with the first request. */
  front(endpoint: string): Promise<Front> {
    this.#front ??= this.#openFront(endpoint).catch((error: unknown) => {
      this.#front = undefined;
      throw error;
    });
    return this.#front;
  }

  async #openFront(endpoint: string): Promise<Front> {
    const { front, scopes = [], toolScopes = {}, adminScope = DEFAULT_ADMIN_SCOPE } = this.#auth;
    const { clock, log, events, state, loadFrontPages } = this.#context;
    if (!front || !loadFrontPages) throw new GatewayError('BAD_OPTION', { option: 'auth.front', reason: 'not here' });
    const { createFront } = await import('./front/front.ts');
    // Nobody becomes an operator by logging in.
    const all = [...new Set([...scopes, ...Object.values(toolScopes).flat()])].filter((one) => one !== adminScope);
    const made = await createFront(front, { clock, log, events, state, endpoint, scopes: all, pages: loadFrontPages });
    const { issuer } = made;
    const fetch: IssuerFetch = async (url) =>
      url.endsWith('/jwks') ? { keys: made.jwks.keys } : { issuer, jwks_uri: `${issuer}/jwks` };
    this.#tokens!.add(new Issuer({ issuer }, { clock, log }, fetch));
    this.#frontIsReady = true;
    return made;
  }

  /** What clients ask before they log in. */
  async answer(asked: WellKnownRequest, response: HttpResponse): Promise<void> {
    if (this.#auth.front && asked.endpoint !== undefined) await this.front(asked.endpoint);
    if (this.#tokens) await answerWellKnown(asked, { tokens: this.#tokens, auth: this.#auth }, response);
    else response.writeHead(404).end();
  }

  /** Another one takes its place, which decides about what callers have open. */
  handOver(next: unknown): void {
    const other = next instanceof Authenticator && isAlike(this.#auth, next.#auth) ? next : undefined;
    this.#keys.handOver(other && other.#keys);
    this.#tokens?.handOver(other && other.#tokens);
  }

  close(): void {
    this.#keys.close();
    this.#tokens?.close();
  }

  #allow(identity: Identity, { resource, isAdmin }: IdentifyRequest): Identity {
    if (isAdmin || missingScopes(identity, this.#scopes).length === 0) {
      if (this.#context.events?.hasListeners && !this.#known.has(identity)) this.#tellNew(identity);
      return identity;
    }
    throw insufficientScope(this.#scopes, this.#metadataOf(resource));
  }

  /** Everybody is recorded once, not with every new token. */
  #tellNew(identity: Identity): void {
    this.#known.add(identity);
    const { principal, key, issuer } = identity;
    const who = JSON.stringify([principal, key]);
    if (this.#callers.get(who)) return;
    this.#callers.set(who, true);
    this.#context.events?.prove({ kind: 'login', principal, outcome: 'ok', details: { key, issuer } });
  }

  #refusal(reason: string, resource: string | undefined, parts: ChallengeParts = {}) {
    const description = parts.error && reason;
    const scheme = this.#auth.dpop?.required && this.#tokens ? 'DPoP' : parts.scheme;
    return unauthorized(reason, {
      ...parts,
      metadata: this.#metadataOf(resource),
      scopes: this.#scopes,
      description,
      scheme,
    });
  }

  #toRefusal(error: unknown, { credential: { scheme }, resource, nonce }: Refused): unknown {
    if (error instanceof InvalidToken)
      return this.#refusal(error.message, resource, { error: 'invalid_token', scheme, nonce });
    // Its class is loaded with the first proof.
    const { name, code, message } = error as Partial<InvalidProof>;
    if (name !== 'InvalidProof' || code === undefined) return error;
    return this.#refusal(String(message), resource, { error: code, scheme, nonce });
  }

  #metadataOf(resource: string | undefined): string | undefined {
    return this.#tokens && resource !== undefined ? metadataUrlOf(resource) : undefined;
  }
}

/** Whether both let in the same callers, but for whose keys and issuers they know. Scopes of tools are checked with every call. */
function isAlike(one: AuthOptions, other: AuthOptions): boolean {
  const known = { keys: undefined, keyFile: undefined, issuers: undefined, toolScopes: undefined };
  return isDeepStrictEqual({ ...one, ...known }, { ...other, ...known });
}

/** Messages of HTTP+SSE go to another path than the one that tokens are for; an upgraded connection has two names. */
function toProven({ headers, method, url, transport, resource = '' }: IdentifyRequest, token: string, jkt: string) {
  const isMessage = /\/message(\?|$)/.test(url ?? '');
  const own = isMessage ? resource.replace(/\/sse$/, '/message') : resource;
  const upgrade = findUpgrade('transport', transport);
  const urls = upgrade ? [own, upgrade.urlOf(own)] : [own];
  return { proof: headers['dpop'], method: method ?? 'GET', urls, token, jkt };
}
