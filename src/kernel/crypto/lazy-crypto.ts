// Node's crypto, loaded on first use, and what nearly everybody needs of it. An `import` would load all of it with WebCrypto, which takes longer
// than most of our own files together and delays the first answer.
import type * as Crypto from 'node:crypto';

let loaded: typeof Crypto | undefined;

export function lazyCrypto(): typeof Crypto {
  return (loaded ??= process.getBuiltinModule('node:crypto'));
}

export function sha256(data: string | Buffer, as: 'hex' | 'base64' | 'base64url'): string {
  return lazyCrypto().createHash('sha256').update(data).digest(as);
}

/** Takes the same time wherever they differ, and however long they are. */
export function isSameSecret(one: string, other: string): boolean {
  return lazyCrypto().timingSafeEqual(Buffer.from(sha256(one, 'hex')), Buffer.from(sha256(other, 'hex')));
}
