// AES-256-GCM, the one cipher of everything that travels through a client. Nobody can read, forge or alter what was encrypted, nor
// open it with other associated data. How the parts are laid out, and from where the key comes, is the caller's.
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
  // In this mode all comes from `update`; `final` only makes or checks the tag.
  const body = cipher.update(plain);
  cipher.final();
  return { nonce, body, tag: cipher.getAuthTag() };
}

/** Undefined for anything forged, altered, or encrypted with another key or for something else. */
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
    return undefined; // the tag did not fit
  }
}

/** Any string serves as a key; 32 random bytes in base64 carry the most. Each purpose gets a key of its own. */
export function toKey(purpose: string, text: string): Buffer {
  return lazyCrypto().createHash('sha256').update(`mcp-parley/${purpose}\0`).update(text).digest();
}
