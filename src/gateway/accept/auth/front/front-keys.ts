// The keys of the authorization server: what signs its tokens and cookies, and what seals its records. Made once, and kept in its folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import { lazyCrypto } from '../../../../shared/crypto/lazy-crypto.ts';
import { readIfThere } from '../../../../shared/files/private-file.ts';

export interface FrontKeys {
  /** With its private part. */
  signing: JWK;
  cookies: string;
  records: string;
}

export async function frontKeys(folder: string | undefined): Promise<FrontKeys> {
  const fresh = async (): Promise<FrontKeys> => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(privateKey);
    const [kid, cookies, records] = [16, 32, 32].map((size) => lazyCrypto().randomBytes(size).toString('base64url'));
    return { signing: { ...jwk, kid: kid!, alg: 'ES256', use: 'sig' }, cookies: cookies!, records: records! };
  };
  if (folder === undefined) return fresh();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'keys.json');
  const kept = readKeys(path);
  if (kept) return kept;
  try {
    writeFileSync(path, JSON.stringify(await fresh()), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // else another process was faster
  }
  return readKeys(path)!;
}

export function toPublic({ kty, crv, x, y, kid, alg, use }: JWK): JWK {
  return { kty, crv, x, y, kid, alg, use } as JWK;
}

function readKeys(path: string): FrontKeys | undefined {
  const text = readIfThere(path);
  return text === undefined ? undefined : (JSON.parse(text) as FrontKeys);
}
