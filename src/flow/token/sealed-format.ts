// The format of Parley's tokens: `f1.` and base64url of
//   key id 4 | session id 16 | nonce 12 | ciphertext | tag 16
// Each session has a derived key, so that sessions cannot exhaust the nonces of one key. The clear parts and the digest of the binding are
// authenticated. All failures look the same to a client.
import { decrypt, encrypt, NONCE_BYTES, TAG_BYTES } from '../../shared/crypto/aead.ts';
import { KID_BYTES } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';

const SEALED_PREFIX = 'f1.';
const PREFIX_BYTES = Buffer.from(SEALED_PREFIX);
const SID_BYTES = 16;
const HEAD_BYTES = KID_BYTES + SID_BYTES + NONCE_BYTES;

export interface SealedContent {
  sid: Buffer;
  plain: Uint8Array;
}

export function sealToken(ring: KeyRing, { sid, plain }: SealedContent, binding: Buffer): string {
  const { kid } = ring;
  const { nonce, body, tag } = encrypt(ring.keyFor(kid, sid)!, associated(kid, sid, binding), plain);
  return SEALED_PREFIX + Buffer.concat([kid, sid, nonce, body, tag]).toString('base64url');
}

export function openToken(ring: KeyRing, token: string, binding: Buffer): SealedContent | undefined {
  if (!token.startsWith(SEALED_PREFIX)) return undefined;
  const text = token.slice(SEALED_PREFIX.length);
  const bytes = Buffer.from(text, 'base64url');
  // A token must have one encoding only, or it could be spent twice.
  if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
  const kid = bytes.subarray(0, KID_BYTES);
  const sid = bytes.subarray(KID_BYTES, KID_BYTES + SID_BYTES);
  const key = ring.keyFor(kid, sid);
  if (!key) return undefined;
  const plain = decrypt(key, associated(kid, sid, binding), {
    nonce: bytes.subarray(KID_BYTES + SID_BYTES, HEAD_BYTES),
    body: bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES),
    tag: bytes.subarray(bytes.length - TAG_BYTES),
  });
  return plain && { sid, plain };
}

/** `session_` and the 16 bytes in base64url. */
export function toSid(id: string): Buffer {
  const sid = Buffer.from(id.slice(id.indexOf('_') + 1), 'base64url');
  if (toSessionId(sid) !== id || sid.length !== SID_BYTES) throw new TypeError(`${id} is not the id of a session`);
  return sid;
}

export function toSessionId(sid: Buffer): string {
  return `session_${sid.toString('base64url')}`;
}

function associated(kid: Buffer, sid: Buffer, binding: Buffer): Buffer {
  return Buffer.concat([PREFIX_BYTES, kid, sid, binding]);
}
