// Short names and keys for long texts, by hashes of them.
import { sha256 } from '../crypto/lazy-crypto.ts';

export const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * Shortens names, because clients refuse more than 64 characters. A long name is cut and gets a hash of the whole, so that it stays unique and
 * stable. `whole` is the text to hash if the name alone is ambiguous; the hash is then always added.
 */
export function toShortName(name: string, whole: string = name): string {
  if (name === whole && name.length <= MAX_NAME_LENGTH) return name;
  const hash = sha256(whole, 'hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

const MAX_KEY_CHARS = 512;

/** A key of bounded length for what a peer declares: short texts stay readable. */
export function toShortKey(text: string): string {
  return text.length <= MAX_KEY_CHARS ? text : `#${sha256(text, 'base64url')}`;
}

/** A small hash (cyrb53) that needs no module, for names. Collisions can be made, so nothing may rely on there being none. */
export function smallDigest(text: string): string {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (const char of text) {
    const code = char.codePointAt(0)!;
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (2 ** 32 * (two & 0x1fffff) + (one >>> 0)).toString(36);
}
