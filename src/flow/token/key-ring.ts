// The keys of tokens. The first key seals, all keys open. To rotate: add the new key last on all servers, move it first, then remove the old
// one. Wait until the tokens have expired between the steps.
import { createHash, createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../../shared/errors.ts';
import { refuseShort } from '../../shared/crypto/state-keys.ts';
import { toKey } from '../../shared/crypto/aead.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';

export const KID_BYTES = 4;

export interface KeyRing {
  /** Id of the key that seals. */
  readonly kid: Buffer;
  /** Derives the key of one session from the key with this id; undefined if the id is unknown. */
  keyFor(kid: Buffer, sid: Buffer): KeyObject | undefined;
}

/** Cached session keys: opening a token and sealing the next one use the same key. */
const MAX_KNOWN = 500;
const INFO = 'mcp-parley/flow-token/f1';
/** The counter of the first HKDF block; one block is enough. */
const FIRST_BLOCK = Buffer.of(1);

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
