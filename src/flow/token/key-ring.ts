// The keys of tokens. The first seals, all of them open: a key is changed by putting the new one last everywhere, then first,
// then dropping the old one, each time after the last token of the step before has expired.
import { createHash, hkdfSync } from 'node:crypto';
import { GatewayError } from '../../shared/errors.ts';
import { toKey } from '../../shared/aead.ts';

export const KID_BYTES = 4;

export interface KeyRing {
  /** Of the key that seals. */
  readonly kid: Buffer;
  /** The key of one session, from the key with this id; undefined if there is none. */
  keyFor(kid: Buffer, sid: Buffer): Buffer | undefined;
}

const INFO = 'mcp-parley/flow-token/f1';

export function createKeyRing(keys: readonly string[]): KeyRing {
  if (keys.length === 0 || keys.includes('')) {
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
  return {
    kid: ring[0]!.kid,
    keyFor(kid, sid) {
      const found = ring.find((one) => one.kid.equals(kid));
      return found && Buffer.from(hkdfSync('sha256', found.key, sid, INFO, 32));
    },
  };
}
