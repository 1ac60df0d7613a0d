// Checks that the sender of a token has the key to which the token is bound (DPoP, RFC 9449). Each proof counts once, for one method and URL,
// and for a minute. Loaded with the first token that needs it.
import { EmbeddedJWK, calculateJwkThumbprint, jwtVerify } from 'jose';
import type { JWK, JWTPayload } from 'jose';
import type { Clock } from '../../../kernel/base/clock.ts';
import { lazyCrypto, sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import type { State } from '../../../kernel/state/state.ts';
import { ALGORITHMS } from './auth-options.ts';

/** What a proof has to be for. */
interface ProvenRequest {
  /** The header DPoP. */
  proof: string | readonly string[] | undefined;
  method: string;
  /** The URLs by which this request may be named, without a query. */
  urls: readonly string[];
  token: string;
  /** The thumbprint of the key to which the token is bound. */
  jkt: string;
}

/** Its message is for the caller. */
export class InvalidProof extends Error {
  override readonly name = 'InvalidProof';
  readonly code: 'invalid_dpop_proof' | 'use_dpop_nonce';

  constructor(message: string, code: InvalidProof['code'] = 'invalid_dpop_proof') {
    super(message);
    this.code = code;
  }
}

const MAX_CHARS = 8 * 1024;
const MAX_AGE_S = 60;
/** Clocks of clients may be ahead. */
const SKEW_S = 5;
const NONCE_MS = 60_000;
/** For how long a proof could count. */
const SPENT_MS = (MAX_AGE_S + 2 * SKEW_S) * 1000;

export class ProofChecker {
  readonly #clock: Clock;
  /** Remembers the proofs that were used, for as long as they would count. */
  readonly #state: State;
  readonly #secret: Buffer | undefined;

  constructor(
    { clock, state }: { clock: Clock; state: State },
    { nonce = false }: { nonce?: boolean | undefined } = {},
  ) {
    this.#clock = clock;
    this.#state = state;
    this.#secret = nonce ? lazyCrypto().randomBytes(32) : undefined;
  }

  /** What the next proof has to name; undefined if it needs none. */
  get nonce(): string | undefined {
    return this.#nonceOf(0);
  }

  /** Throws InvalidProof, or STATE_FAILED if it cannot be known whether the proof was used. */
  async check({ proof, method, urls, token, jkt }: ProvenRequest): Promise<void> {
    if (typeof proof !== 'string' || proof.length > MAX_CHARS || proof.includes(','))
      throw new InvalidProof('the token needs one proof, in the header DPoP');
    const { claims, jwk } = await this.#read(proof);
    if ((await calculateJwkThumbprint(jwk)) !== jkt) throw new InvalidProof('the proof is of another key');
    const digest = sha256(token, 'base64url');
    if (claims.ath !== digest) throw new InvalidProof('the proof is for another token (ath)');
    if (claims.htm !== method) throw new InvalidProof('the proof is for another method (htm)');
    if (!urls.includes(bareUrl(claims.htu))) throw new InvalidProof('the proof is for another URL (htu)');
    const age = typeof claims.iat === 'number' ? this.#clock.now() / 1000 - claims.iat : Infinity;
    if (!(age <= MAX_AGE_S && age >= -SKEW_S)) throw new InvalidProof('the proof is not of this minute (iat)');
    if (this.#secret && claims.nonce !== this.#nonceOf(0) && claims.nonce !== this.#nonceOf(-1))
      throw new InvalidProof('the proof needs the nonce of the header DPoP-Nonce', 'use_dpop_nonce');
    if (!(await this.#state.take(`dpop ${jkt} ${String(claims.jti)}`, SPENT_MS)))
      throw new InvalidProof('the proof was used before (jti)');
  }

  async #read(proof: string): Promise<{ claims: JWTPayload; jwk: JWK }> {
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: 'dpop+jwt',
        algorithms: ALGORITHMS,
        currentDate: new Date(this.#clock.now()),
        clockTolerance: SKEW_S,
      });
      const { jti } = payload;
      if (typeof jti === 'string' && jti.length > 0 && jti.length <= 256)
        return { claims: payload, jwk: protectedHeader.jwk! };
    } catch {
      // falls through: what is wrong with it is nobody's business but the client's
    }
    throw new InvalidProof('the header DPoP is not a proof');
  }

  /** A nonce needs no memory: it is the time, signed. */
  #nonceOf(offset: number): string | undefined {
    if (!this.#secret) return undefined;
    const span = Math.floor(this.#clock.now() / NONCE_MS) + offset;
    return lazyCrypto().createHmac('sha256', this.#secret).update(String(span)).digest('base64url');
  }
}

/** Without query and fragment; empty if it is not a URL. */
function bareUrl(htu: unknown): string {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return '';
  const { protocol, host, pathname } = new URL(htu);
  return `${protocol}//${host}${pathname}`;
}
