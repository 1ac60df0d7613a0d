// Clients refuse names of more than 64 characters. A longer one is cut and gets a hash of the whole, so that it stays unique
// and comes out the same everywhere.
import { lazyCrypto } from './crypto/lazy-crypto.ts';

export const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;

/** `whole`: what the hash is of, where the name alone does not tell it apart; it is then always added. */
export function toShortName(name: string, whole: string = name): string {
  if (name === whole && name.length <= MAX_NAME_LENGTH) return name;
  const hash = lazyCrypto().createHash('sha256').update(whole).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
