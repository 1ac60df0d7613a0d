// Ids. `randomId` cannot be guessed (128 random bits); `createCounter` is for ids that only have to be unique here. Random bytes are drawn
// for many at once: asking the system for each takes longer than all the rest of it.
import { closeSync, openSync, readSync } from 'node:fs';
import { lazyCrypto } from './lazy-crypto.ts';

const BYTES = 16;
const pool = Buffer.alloc(BYTES * 128);
let used = pool.length;

export function randomId(prefix = ''): string {
  return prefix + drawRandomBytes(BYTES).toString('base64url');
}

/** So many random bytes, up to the size of the pool. */
export function drawRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    draw(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  // What was given away is not kept.
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

export function createCounter(prefix: string): () => string {
  let next = 0;
  return () => `${prefix}${(next++).toString(36)}`;
}

/** From the system: every first answer has an id in it, and loading crypto for that would take longer than making the answer. */
function draw(bytes: Buffer): void {
  if (!readDevice(bytes)) lazyCrypto().randomFillSync(bytes);
}

/** False where there is no such device, as on Windows. */
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
