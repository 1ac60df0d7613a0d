// Ids. `randomId` cannot be guessed (128 random bits); `createCounter` is for ids that only have to be unique here.
import { randomBytes } from 'node:crypto';

export function randomId(prefix = ''): string {
  return prefix + randomBytes(16).toString('base64url');
}

export function createCounter(prefix: string): () => string {
  let next = 0;
  return () => `${prefix}${(next++).toString(36)}`;
}
