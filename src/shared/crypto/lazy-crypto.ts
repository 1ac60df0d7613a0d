// Node's crypto, for what a first answer is waiting for: an `import` would load all of it at once, WebCrypto too, which takes longer
// than most of our own files together. Here it is loaded by the first who has something to seal, to hash or to draw.
import type * as Crypto from 'node:crypto';

let loaded: typeof Crypto | undefined;

export function lazyCrypto(): typeof Crypto {
  return (loaded ??= process.getBuiltinModule('node:crypto'));
}
