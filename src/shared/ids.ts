// Ids. `randomId` cannot be guessed (128 random bits); `createCounter` is for ids that only have to be unique here.
import { randomFillSync } from 'node:crypto';

const BYTES = 16;
/** Drawn for many ids at once: asking the system for each takes longer than all the rest of it. */
const pool = Buffer.alloc(BYTES * 128);
let used = pool.length;

export function randomId(prefix = ''): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  const id = pool.toString('base64url', used - BYTES, used);
  // What was given away is not kept.
  pool.fill(0, used - BYTES, used);
  return prefix + id;
}

export function createCounter(prefix: string): () => string {
  let next = 0;
  return () => `${prefix}${(next++).toString(36)}`;
}
