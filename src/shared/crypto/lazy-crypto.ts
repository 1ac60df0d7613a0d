// Loads Node's crypto on first use. An `import` would load all of it with WebCrypto, which takes longer than most of
// our own files together and delays the first answer.
import type * as Crypto from 'node:crypto';

let loaded: typeof Crypto | undefined;

export function lazyCrypto(): typeof Crypto {
  return (loaded ??= process.getBuiltinModule('node:crypto'));
}
