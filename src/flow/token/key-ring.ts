// The keys of tokens. The first seals, all of them open: a key is changed by putting the new one last everywhere, then first,
// then dropping the old one, each time after the last token of the step before has expired.
import { createHash, createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../../shared/errors.ts';
import { toKey } from '../../shared/crypto/aead.ts';

export const KID_BYTES = 4;

export interface KeyRing {
  /** Of the key that seals. */
  readonly kid: Buffer;
  /** The key of one session, from the key with this id; undefined if there is none. */
  keyFor(kid: Buffer, sid: Buffer): KeyObject | undefined;
}

/** Keys of sessions that were derived: a token is opened and the next one sealed with the same. */
const MAX_KNOWN = 500;
const INFO = 'mcp-parley/flow-token/f1';
/** The number of the first block of HKDF, and the only one that is needed. */
const FIRST_BLOCK = Buffer.of(1);

export function createKeyRing(keys: readonly string[]): KeyRing {
  if (keys.length === 0 || keys.some((key) => typeof key !== 'string' || key === '')) {
    throw new GatewayError('BAD_OPTION', {
      option: 'keys',
      reason: 'tokens need at least one key, and none may be empty',
    });
  }
  const ring = keys.map((text) => {
    const key = toKey('flow-token', text);
    // Of a hash of the key: it travels in the clear.
    return { key, kid: createHash('sha256').update('kid\0').update(key).digest().subarray(0, KID_BYTES) };
  });
  const known = new Map<string, KeyObject>();
  const derive = (name: string, kid: Buffer, sid: Buffer): KeyObject | undefined => {
    const found = ring.find((one) => one.kid.equals(kid));
    if (!found) return undefined;
    const key = createSecretKey(toSessionKey(found.key, sid));
    if (known.size >= MAX_KNOWN) known.clear();
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

/** HKDF with SHA-256 for 32 bytes (RFC 5869). Node's own takes twice as long, for every session. */
export function toSessionKey(key: Buffer, sid: Buffer): Buffer {
  const extracted = createHmac('sha256', sid).update(key).digest();
  return createHmac('sha256', extracted).update(INFO).update(FIRST_BLOCK).digest();
}
