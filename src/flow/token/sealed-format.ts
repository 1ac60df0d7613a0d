// The format of Parley's tokens: `f1.` and base64url of
//   key id 4 | session id 16 | nonce 12 | ciphertext | tag 16
// Each session has a derived key, so that sessions cannot exhaust the nonces of one key. The clear parts and the digest of the binding are
// authenticated. All failures look the same to a client.
import { createHash, createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { decrypt, encrypt, NONCE_BYTES, TAG_BYTES, toKey } from '../../kernel/crypto/seal.ts';
import { refuseShort } from '../../kernel/crypto/state-keys.ts';
import { GatewayError } from '../../kernel/base/errors.ts';

const SEALED_PREFIX = 'f1.';
const PREFIX_BYTES = Buffer.from(SEALED_PREFIX);
const KID_BYTES = 4;
const SID_BYTES = 16;
const HEAD_BYTES = KID_BYTES + SID_BYTES + NONCE_BYTES;

interface KeyRing {
  /** Id of the key that seals. */
  readonly kid: Buffer;
  /** Derives the key of one session from the key with this id; undefined if the id is unknown. */
  keyFor(kid: Buffer, sid: Buffer): KeyObject | undefined;
}

interface SealedContent {
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

/** Cached session keys: opening a token and sealing the next one use the same key. */
const MAX_KNOWN = 500;
const INFO = 'mcp-parley/flow-token/f1';
/** The counter of the first HKDF block; one block is enough. */
const FIRST_BLOCK = Buffer.of(1);

/**
 * The first key seals, all keys open. To rotate: add the new key last on all servers, move it first, then remove the old one. Wait until the
 * tokens have expired between the steps.
 */
export function createKeyRing(keys: readonly string[]): KeyRing {
  if (keys.length === 0 || keys.some((key) => typeof key !== 'string' || key === '')) {
    throw new GatewayError('BAD_OPTION', {
      option: 'keys',
      reason: 'tokens need at least one key, and none may be empty',
    });
  }
  refuseShort(keys);
  const ring = keys.map((text) => {
    const key = toKey('flow-token', text);
    // Derived from a hash, because the id is not encrypted.
    return { key, kid: createHash('sha256').update('kid\0').update(key).digest().subarray(0, KID_BYTES) };
  });
  const known = new BoundedMap<string, KeyObject>(MAX_KNOWN);
  const derive = (name: string, kid: Buffer, sid: Buffer): KeyObject | undefined => {
    const found = ring.find((one) => one.kid.equals(kid));
    if (!found) return undefined;
    const key = createSecretKey(toSessionKey(found.key, sid));
    known.set(name, key);
    return key;
  };
  return {
    kid: ring[0]!.kid,
    keyFor(kid, sid) {
      const name = kid.toString('latin1') + sid.toString('latin1');
      return known.get(name) ?? derive(name, kid, sid);
    },
  };
}

/** HKDF-SHA-256 for 32 bytes (RFC 5869). Node's hkdfSync takes twice as long. */
export function toSessionKey(key: Buffer, sid: Buffer): Buffer {
  const extracted = createHmac('sha256', sid).update(key).digest();
  return createHmac('sha256', extracted).update(INFO).update(FIRST_BLOCK).digest();
}
