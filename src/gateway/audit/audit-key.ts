// The Ed25519 key that signs checkpoints of the audit log. It is made once for each user and kept next to the log, so it proves that the log was
// written by this user's gateways, and not that this user has left it alone. Keep the public key, or a head, elsewhere for that.
import type { KeyObject } from 'node:crypto';
import { constants, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomId } from '../../shared/crypto/ids.ts';
import { lazyCrypto } from '../../shared/crypto/lazy-crypto.ts';
import { closeQuietly } from './audit-folder.ts';

const NAME = 'key.pem';

/** Makes the key if there is none. Several processes may do so at the same time; one of them wins. */
export function loadSigningKey(folder: string): KeyObject {
  return readSigningKey(folder) ?? makeSigningKey(folder);
}

/** Undefined if nothing was ever signed here. */
export function readSigningKey(folder: string): KeyObject | undefined {
  const { O_NOFOLLOW, O_RDONLY } = constants;
  let fd: number;
  try {
    fd = openSync(join(folder, NAME), O_RDONLY | O_NOFOLLOW);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
  try {
    return lazyCrypto().createPrivateKey(readFileSync(fd));
  } finally {
    closeQuietly(fd);
  }
}

/** As text that can be kept elsewhere: the 32 bytes of the public key, base64url. */
export function toPublicText(key: KeyObject): string {
  return lazyCrypto().createPublicKey(key).export({ format: 'jwk' }).x!;
}

/** Throws if it is not a public key. */
export function fromPublicText(text: string): KeyObject {
  return lazyCrypto().createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' });
}

function makeSigningKey(folder: string): KeyObject {
  const { privateKey } = lazyCrypto().generateKeyPairSync('ed25519');
  const draft = join(folder, `${NAME}.${randomId().slice(0, 8)}`);
  writeFileSync(draft, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, join(folder, NAME)); // fails if another process was faster
    return privateKey;
  } catch (thrown) {
    const made = readSigningKey(folder);
    if (made) return made;
    throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
}
