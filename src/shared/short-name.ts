// Shortens names, because clients refuse more than 64 characters. A long name is cut and gets a hash of the whole, so
// that it stays unique and stable.
import { lazyCrypto } from './crypto/lazy-crypto.ts';

export const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;

/** `whole` is the text to hash if the name alone is ambiguous; the hash is then always added. */
export function toShortName(name: string, whole: string = name): string {
  if (name === whole && name.length <= MAX_NAME_LENGTH) return name;
  const hash = lazyCrypto().createHash('sha256').update(whole).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
