// Randomness that is the same in every run of a session, and that cannot be predicted from earlier output: the key stream of AES in
// counter mode, keyed by the session's seed.
import { createCipheriv } from 'node:crypto';
import type { Cipher } from 'node:crypto';

const BLOCK = Buffer.alloc(256);

export class Entropy {
  readonly #seed: string;
  #cipher: Cipher | undefined;
  #left: Buffer = Buffer.alloc(0);

  /** 128 bits in base64url. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  bytes(count: number): Buffer {
    this.#cipher ??= createCipheriv('aes-128-ctr', Buffer.from(this.#seed, 'base64url'), Buffer.alloc(16));
    const parts = [this.#left];
    let have = this.#left.length;
    for (; have < count; have += BLOCK.length) parts.push(this.#cipher.update(BLOCK));
    const all = parts.length === 1 ? this.#left : Buffer.concat(parts);
    this.#left = all.subarray(count);
    return all.subarray(0, count);
  }
}

/** In [0, 1), with 53 bits. */
export function toNumber(bytes: Buffer): number {
  return (bytes.readUIntBE(0, 6) * 32 + (bytes[6]! & 31)) / 2 ** 53;
}

/** A version 4 UUID. */
export function toUuid(bytes: Buffer): `${string}-${string}-${string}-${string}-${string}` {
  const own = Buffer.from(bytes);
  own[6] = (own[6]! & 0x0f) | 0x40;
  own[8] = (own[8]! & 0x3f) | 0x80;
  const hex = own.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
