// Seals state that travels through a client instead of being stored here: request state, cursors, handles, tokens. With
// AES-256-GCM it cannot be read, forged or altered. Purpose and binding are authenticated but not included, so a seal
// for one purpose or principal does not open for another. Replay is possible: single use needs bookkeeping by the
// caller.
import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../base/errors.ts';
import { drawRandomBytes } from './ids.ts';
import { lazyCrypto } from './lazy-crypto.ts';

export interface Sealer {
  seal(purpose: string, binding: string, payload: unknown): string;
  /** The payload; undefined, without a reason, if it was forged, altered or sealed for something else. */
  open(purpose: string, binding: string, sealed: string): unknown;
  /** False if the keys end with this process. */
  readonly durable: boolean;
}

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
const VERSION = 1;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** The first key seals; all of them open, so that keys can be rotated. */
export function createSealer(keys?: readonly string[]): Sealer {
  const given = keys?.length ? keys.map(checkedKey) : undefined;
  let ring: Buffer[] | undefined;
  // On first use, because it loads crypto.
  const allKeys = (): Buffer[] =>
    (ring ??= given?.map((text) => toKey('seal', text)) ?? [lazyCrypto().randomBytes(32)]);
  return {
    durable: given !== undefined,
    seal(purpose, binding, payload) {
      const plain = Buffer.from(JSON.stringify(payload), 'utf8');
      const { nonce, tag, body } = encrypt(allKeys()[0]!, associated(purpose, binding), plain);
      return Buffer.concat([Buffer.of(VERSION), nonce, tag, body]).toString('base64url');
    },
    open(purpose, binding, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION || bytes.toString('base64url') !== sealed) return undefined;
      for (const key of allKeys()) {
        const payload = openWith(key, associated(purpose, binding), bytes);
        if (payload !== undefined) return payload;
      }
      return undefined;
    },
  };
}

/** Usually caused by an unset variable. */
function checkedKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new GatewayError('BAD_OPTION', {
    option: 'keys',
    reason: 'each must be a text that is not empty; is the variable set?',
  });
}

function openWith(key: Buffer, aad: Buffer, bytes: Buffer): unknown {
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  const tag = bytes.subarray(1 + NONCE_BYTES, HEAD_BYTES);
  const plain = decrypt(key, aad, { nonce, tag, body: bytes.subarray(HEAD_BYTES) });
  return plain && (JSON.parse(plain.toString('utf8')) as unknown);
}

/** Includes the length of the purpose, so that "ab"+"c" and "a"+"bc" differ. */
function associated(purpose: string, binding: string): Buffer {
  return Buffer.from(`${purpose.length}:${purpose}${binding}`, 'utf8');
}

interface EncryptedParts {
  nonce: Buffer;
  body: Buffer;
  tag: Buffer;
}

/**
 * AES-256-GCM, the cipher for everything that travels through a client: it cannot be opened with other associated data.
 * The caller chooses the layout and the key.
 */
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
