// AES-256-GCM, the cipher for everything that travels through a client: it cannot be read, forged or altered, nor
// opened with other associated data. The caller chooses the layout and the key.
import type { KeyObject } from 'node:crypto';
import { drawRandomBytes } from './ids.ts';
import { lazyCrypto } from './lazy-crypto.ts';

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

export interface EncryptedParts {
  nonce: Buffer;
  body: Buffer;
  tag: Buffer;
}

export function encrypt(key: Buffer | KeyObject, associated: Buffer, plain: Uint8Array): EncryptedParts {
  const nonce = drawRandomBytes(NONCE_BYTES);
  const cipher = lazyCrypto().createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
  // In this mode `update` returns everything; `final` only makes or checks the tag.
  const body = cipher.update(plain);
  cipher.final();
  return { nonce, body, tag: cipher.getAuthTag() };
}

/** Undefined if it was forged, altered, or encrypted with another key or purpose. */
export function decrypt(
  key: Buffer | KeyObject,
  associated: Buffer,
  { nonce, body, tag }: EncryptedParts,
): Buffer | undefined {
  const decipher = lazyCrypto().createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associated).setAuthTag(tag);
  try {
    const plain = decipher.update(body);
    decipher.final();
    return plain;
  } catch {
    return undefined; // the tag does not match
  }
}

/** Any string can be a key, best 32 random bytes in base64. Each purpose gets its own key. */
export function toKey(purpose: string, text: string): Buffer {
  return lazyCrypto().createHash('sha256').update(`mcp-parley/${purpose}\0`).update(text).digest();
}
