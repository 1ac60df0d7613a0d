// Creates ids. `randomId` is unguessable (128 random bits); `createCounter` is for ids that only have to be unique
// here. Random bytes are drawn in bulk, because a system call for each id takes longer than the rest.
import { closeSync, openSync, readSync } from 'node:fs';
import { lazyCrypto } from './lazy-crypto.ts';

const BYTES = 16;
const pool = Buffer.alloc(BYTES * 128);
let used = pool.length;

export function randomId(prefix = ''): string {
  return prefix + drawRandomBytes(BYTES).toString('base64url');
}

/** Returns up to the pool's size of random bytes. */
export function drawRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    // Reads from the system, because loading crypto for the first id would take longer than the first answer.
    if (!readDevice(pool)) lazyCrypto().randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  // Used bytes are erased.
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

export function createCounter(prefix: string): () => string {
  let next = 0;
  return () => `${prefix}${(next++).toString(36)}`;
}

/** False if there is no such device, as on Windows. */
function readDevice(bytes: Buffer): boolean {
  try {
    const device = openSync('/dev/urandom', 'r');
    try {
      return readSync(device, bytes) === bytes.length;
    } finally {
      closeSync(device);
    }
  } catch {
    return false;
  }
}
