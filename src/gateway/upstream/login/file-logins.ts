// Logins in the user's state folder: one encrypted file each (AES-256-GCM, with the key file of that folder), readable only by its
// owner. Files are replaced whole. A lock file serializes work on one login across processes; it belongs to a process, and a lock
// whose process has died is removed. If the lock cannot be had in time, the work is not done.
import { mkdirSync } from 'node:fs';
import { open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, ticksOf } from '../../../shared/clock.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { secrets } from '../../../shared/secrets/secrets.ts';
import { hasLoginFile, loginFile } from './login-file.ts';
import { createMemoryLogins } from './login-store.ts';
import type { LoginRecord, LoginStore } from './login-store.ts';

export interface FileLoginOptions {
  folder: string;
  /** With keys of the state folder. Keys that end with the process would make the files useless. */
  sealer: Sealer;
  /** How long to wait for another process. */
  waitMs?: number | undefined;
}

const PURPOSE = 'login';
/** Longer than a request to a token endpoint may take. */
const WAIT_MS = 30_000;
const POLL_MS = 20;
/** No work takes this long, so its process has died, though another one may have its number now. */
const DEAD_MS = 120_000;

export function createFileLogins(options: FileLoginOptions): LoginStore {
  return options.sealer.durable ? new FileLogins(options) : createMemoryLogins();
}

class FileLogins implements LoginStore {
  readonly #folder: string;
  readonly #sealer: Sealer;
  readonly #waitMs: number;

  constructor({ folder, sealer, waitMs = WAIT_MS }: FileLoginOptions) {
    this.#folder = folder;
    this.#sealer = sealer;
    this.#waitMs = waitMs;
  }

  has(key: string): boolean {
    return hasLoginFile(this.#folder, key);
  }

  async read(key: string): Promise<LoginRecord | undefined> {
    const found = await this.#readFile(this.#fileOf(key));
    if (found?.key !== key) return undefined; // two keys may share a name
    const { tokens, client } = found.record;
    for (const one of [tokens?.access, tokens?.refresh, client.secret]) secrets.addPassing(one);
    return found.record;
  }

  write(key: string, next: LoginRecord, version: number): Promise<boolean> {
    return locked(`${this.#fileOf(key)}.write`, this.#waitMs, async () => {
      if (((await this.read(key))?.version ?? 0) !== version) return false;
      const path = this.#fileOf(key);
      const temporary = `${path}-${randomId()}`;
      try {
        const sealed = this.#sealer.seal(PURPOSE, '', { key, record: next });
        await writeFile(temporary, sealed, { mode: 0o600, flag: 'wx', flush: true });
        await rename(temporary, path);
      } finally {
        await rm(temporary, { force: true });
      }
      return true;
    });
  }

  async remove(key: string): Promise<boolean> {
    const isThere = this.has(key);
    await rm(this.#fileOf(key), { force: true });
    return isThere;
  }

  async keys(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const files = names.filter((name) => /^[\w-]+\.login$/.test(name));
    const read = await Promise.all(files.map((name) => this.#readFile(join(this.#folder, name))));
    return read.flatMap((one) => one?.key ?? []);
  }

  exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    return locked(`${this.#fileOf(key)}.lock`, this.#waitMs, work);
  }

  async #readFile(path: string): Promise<{ key: string; record: LoginRecord } | undefined> {
    const sealed = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    // A file of another key is as good as none; a new login replaces it.
    return sealed === undefined ? undefined : (this.#sealer.open(PURPOSE, '', sealed) as never);
  }

  #fileOf(key: string): string {
    return loginFile(this.#folder, key);
  }
}

/** Runs `work` while no other process runs work with this lock file; rejects if that cannot be had in time. */
export async function locked<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const until = ticksOf(systemClock) + waitMs;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await take(path))) {
    if (ticksOf(systemClock) > until) {
      throw new GatewayError('UPSTREAM_LOGIN_FAILED', {
        server: 'the server',
        reason: 'another process holds the login',
      });
    }
    await removeDead(path);
    await sleep(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** False if another process, or another call of this one, has it. */
async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moved away first, so that of two processes only one removes it, and none removes a lock that was taken since. */
async function removeDead(path: string): Promise<void> {
  const holder = await readFile(path, 'utf8').catch(() => '');
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  const isOld = systemClock.now() - mtimeMs > DEAD_MS;
  if (!isOld && (!/^\d+$/.test(holder) || isAlive(Number(holder)))) return;
  const aside = `${path}-${randomId()}`;
  try {
    await rename(path, aside);
    const moved = await readFile(aside, 'utf8');
    if (moved === holder) await rm(aside, { force: true });
    else await rename(aside, path);
  } catch {
    // another process was faster
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
