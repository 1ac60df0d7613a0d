// The key that tokens are bound to (RFC 9449), and the proof that goes with each request. The key is kept with the login.
import * as oauth from 'oauth4webapi';
import type { DPoPHandle } from 'oauth4webapi';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';

const ALGORITHM = 'ES256';

interface DpopProofOptions {
  method: string;
  url: URL;
  token: string;
  nonce: string | undefined;
  now: number;
}

export class DpopKey {
  readonly #pair: oauth.CryptoKeyPair;
  readonly #publicJwk: Record<string, unknown>;
  /** The private key, to keep. */
  readonly jwk: Record<string, unknown>;
  /** For requests to the token endpoint. */
  readonly handle: DPoPHandle;

  private constructor(pair: oauth.CryptoKeyPair, jwk: Record<string, unknown>) {
    const { kty, crv, x, y } = jwk;
    this.#pair = pair;
    this.jwk = jwk;
    this.#publicJwk = { kty, crv, x, y };
    this.handle = oauth.DPoP({}, pair);
  }

  static async create(): Promise<DpopKey> {
    const { exportJWK } = await import('jose');
    const pair = await oauth.generateKeyPair(ALGORITHM, { extractable: true });
    return new DpopKey(pair, { ...(await exportJWK(pair.privateKey)) });
  }

  static async from(jwk: Record<string, unknown>): Promise<DpopKey> {
    const { importJWK } = await import('jose');
    const { kty, crv, x, y } = jwk;
    const privateKey = await importJWK({ ...jwk }, ALGORITHM);
    const publicKey = await importJWK({ kty, crv, x, y } as Record<string, string>, ALGORITHM, { extractable: true });
    return new DpopKey({ privateKey, publicKey } as oauth.CryptoKeyPair, jwk);
  }

  async proof({ method, url, token, nonce, now }: DpopProofOptions): Promise<string> {
    const { SignJWT } = await import('jose');
    const claims = {
      jti: randomId(),
      htm: method,
      htu: url.origin + url.pathname,
      ath: sha256(token, 'base64url'),
      ...(nonce !== undefined && { nonce }),
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: 'dpop+jwt', jwk: this.#publicJwk })
      .setIssuedAt(Math.floor(now / 1000))
      .sign(this.#pair.privateKey);
  }
}
