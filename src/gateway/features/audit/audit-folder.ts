// The folder of the audit log: one file for each process that records, more when it grows too large, and the key. It belongs to its user alone:
// nothing is written through a link, and nothing into a folder of somebody else.
import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { KeyObject } from 'node:crypto';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { isLiveProcess } from '../../../kernel/files/lease-holder.ts';
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';

/** `2026-11-17T11-07-26-512Z.4711.Zm9vYmFy.jsonl`: when it began, the process, the chain. Sorts by time. */
const FILE = /^(\d{4}-\d\d-\d\dT[\d-]+Z)\.(\d+)\.([\w-]{12})(?:\.(\d+))?\.jsonl$/;

export interface AuditFile {
  readonly path: string;
  readonly name: string;
  readonly pid: number;
  readonly chain: string;
  /** Which file of its chain, from 0. */
  readonly part: number;
}

export function auditFolder(stateFolder: string): string {
  return join(stateFolder, 'audit');
}

export function createChainId(): string {
  return randomId().slice(0, 12);
}

/** Throws if the folder cannot be made, or is not this user's own. */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw new Error('the folder of the audit log is a link');
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) throw new Error('the folder of the audit log belongs to another user');
}

/** Opens a file that did not exist before. */
export function createAuditFile(folder: string, { chain, part, now }: { chain: string; part: number; now: Date }) {
  const time = now.toISOString().replaceAll(/[:.]/g, '-');
  const name = `${time}.${process.pid}.${chain}.${part}.jsonl`;
  const path = join(folder, name);
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  return { name, path, fd: openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600) };
}

/** Oldest first. */
export function listAuditFiles(folder: string): AuditFile[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // nothing was recorded yet
  }
  return names.toSorted().flatMap((name) => {
    const [, , pid, chain, part = '0'] = FILE.exec(name) ?? [];
    if (pid === undefined) return [];
    return [{ path: join(folder, name), name, pid: Number(pid), chain: chain!, part: Number(part) }];
  });
}

/** Removes the oldest files until the rest fits, except those that are still written. Returns the names of what was removed. */
export function dropOldest(folder: string, limits: { maxBytes: number; maxFiles: number }): string[] {
  const files = listAuditFiles(folder).map((file) => ({ ...file, bytes: sizeOf(file.path) }));
  const newest = new Map(files.map(({ chain, name }) => [chain, name]));
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let count = files.length;
  const dropped: string[] = [];
  for (const file of files) {
    if (bytes <= limits.maxBytes && count <= limits.maxFiles) break;
    const isWritten = newest.get(file.chain) === file.name && isLiveProcess(file.pid);
    if (isWritten || !remove(file.path)) continue;
    bytes -= file.bytes;
    count--;
    dropped.push(file.name);
  }
  return dropped;
}

export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // it is no longer of use
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

function remove(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false; // another process has removed it
  }
}

const KEY_NAME = 'key.pem';

/**
 * The Ed25519 key that signs checkpoints. It is made once for each user and kept next to the log, so it proves that the log was written by this
 * user's gateways, and not that this user has left it alone. Keep the public key, or a head, elsewhere for that. Several processes may make it at
 * the same time; one of them wins.
 */
export function loadSigningKey(folder: string): KeyObject {
  return readSigningKey(folder) ?? makeSigningKey(folder);
}

/** Undefined if nothing was ever signed here. */
export function readSigningKey(folder: string): KeyObject | undefined {
  const { O_NOFOLLOW, O_RDONLY } = constants;
  let fd: number;
  try {
    fd = openSync(join(folder, KEY_NAME), O_RDONLY | O_NOFOLLOW);
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

function makeSigningKey(folder: string): KeyObject {
  const { privateKey } = lazyCrypto().generateKeyPairSync('ed25519');
  const draft = join(folder, `${KEY_NAME}.${randomId().slice(0, 8)}`);
  writeFileSync(draft, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, join(folder, KEY_NAME)); // fails if another process was faster
    return privateKey;
  } catch (thrown) {
    const made = readSigningKey(folder);
    if (made) return made;
    throw thrown;
  } finally {
    rmSync(draft, { force: true });
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
