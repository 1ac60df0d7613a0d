// Seals state that travels through a client instead of being kept here: request state, cursors, handles, tokens.
// AES-256-GCM: nobody can read, forge or alter it. Purpose and binding are authenticated but not carried, so that a seal
// made for one purpose or principal does not open for another. It does not stop a replay: whoever needs single use keeps count.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface Sealer {
  seal(purpose: string, binding: string, payload: unknown): string;
  /** The payload, or undefined for anything forged, altered, or sealed for something else. No reason is given. */
  open(purpose: string, binding: string, sealed: string): unknown;
  /** False when the keys live only as long as this process. */
  readonly durable: boolean;
}

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** The first key seals; all of them open, so that keys can be rotated. */
export function createSealer(keys?: readonly string[]): Sealer {
  const ring = keys?.length ? keys.map(toKey) : [randomBytes(32)];
  return {
    durable: Boolean(keys?.length),
    seal(purpose, binding, payload) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', ring[0]!, iv).setAAD(associated(purpose, binding));
      const body = Buffer.concat([cipher.update(JSON.stringify(payload), 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(purpose, binding, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION || bytes.toString('base64url') !== sealed) return undefined;
      for (const key of ring) {
        const payload = openWith(key, associated(purpose, binding), bytes);
        if (payload !== undefined) return payload;
      }
      return undefined;
    },
  };
}

function openWith(key: Buffer, aad: Buffer, bytes: Buffer): unknown {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + IV_BYTES));
  decipher.setAAD(aad).setAuthTag(bytes.subarray(1 + IV_BYTES, HEAD_BYTES));
  try {
    return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8'));
  } catch {
    return undefined; // the tag did not fit: forged, or sealed with another key
  }
}

/** The length of the purpose is part of it: "ab"+"c" and "a"+"bc" must differ. */
function associated(purpose: string, binding: string): Buffer {
  return Buffer.from(`${purpose.length}:${purpose}${binding}`, 'utf8');
}

/** Any string serves as a key; 32 bytes in base64 carry the most. */
function toKey(text: string): Buffer {
  return createHash('sha256').update('mcp-parley/seal\0').update(text).digest();
}
