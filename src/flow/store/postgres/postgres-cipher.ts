// Encrypts what the Postgres store keeps, if it has a key: AES-256-GCM for each value, bound to its session and field, so that a value does not
// open in another place. Who can write to the database can still put back an older value of the same place, or delete rows.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { decrypt, encrypt, NONCE_BYTES, TAG_BYTES, toKey } from '../../../kernel/crypto/seal.ts';
import { refuseShort } from '../../../kernel/crypto/state-keys.ts';

export interface PostgresCipher {
  seal(place: string, text: string): string;
  /** Undefined if it does not open with any key, or was not sealed for this place. */
  open(place: string, sealed: string): string | undefined;
  sealBytes(place: string, bytes: Uint8Array): Buffer;
  openBytes(place: string, sealed: Uint8Array): Buffer | undefined;
  /** Whether the first key has sealed it. */
  isNewest(place: string, sealed: string): boolean;
}

/** The first key seals, and all of them open. */
export function createPostgresCipher(keys: readonly string[]): PostgresCipher {
  if (keys.includes('')) throw new GatewayError('BAD_OPTION', { option: 'key', reason: 'is empty' });
  refuseShort(keys, 'key');
  const ring = keys.map((key) => toKey('flow-store', key));
  const sealBytes = (place: string, bytes: Uint8Array): Buffer => {
    const { nonce, tag, body } = encrypt(ring[0]!, Buffer.from(place), bytes);
    return Buffer.concat([nonce, tag, body]);
  };
  const openWith = (key: Buffer, place: string, sealed: Uint8Array): Buffer | undefined => {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const at = NONCE_BYTES + TAG_BYTES;
    if (bytes.length < at) return undefined;
    const parts = { nonce: bytes.subarray(0, NONCE_BYTES), tag: bytes.subarray(NONCE_BYTES, at) };
    return decrypt(key, Buffer.from(place), { ...parts, body: bytes.subarray(at) });
  };
  const openBytes = (place: string, sealed: Uint8Array): Buffer | undefined => {
    for (const key of ring) {
      const bytes = openWith(key, place, sealed);
      if (bytes) return bytes;
    }
    return undefined;
  };
  return {
    sealBytes,
    openBytes,
    seal: (place, text) => sealBytes(place, Buffer.from(text)).toString('base64url'),
    open: (place, sealed) => openBytes(place, Buffer.from(sealed, 'base64url'))?.toString(),
    isNewest: (place, sealed) => openWith(ring[0]!, place, Buffer.from(sealed, 'base64url')) !== undefined,
  };
}
