// Logins in the user's state folder: one encrypted file each (AES-256-GCM, with the key file of that folder), readable only by its
// owner. Files are replaced whole. A lock file serializes work on one login across processes.
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { withFileLock } from '../../../kernel/files/file-lock.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';
import { hasLoginFile, issuerFile, loginFile, createMemoryLogins } from './login-store.ts';
import type { LoginRecord, LoginStore } from './login-store.ts';

interface FileLoginOptions {
  folder: string;
  /** With keys of the state folder. Keys that end with the process would make the files useless. */
  sealer: Sealer;
  /** How long to wait for another process. */
  waitMs?: number | undefined;
}

const PURPOSE = 'login';
const ISSUER_PURPOSE = 'login-issuer';
/** Longer than a request to a token endpoint may take. */
const WAIT_MS = 30_000;

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
      await this.#replace(this.#fileOf(key), this.#sealer.seal(PURPOSE, '', { key, record: next }));
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

  /** The first process that writes the file decides. A file that cannot be read is as good as none. */
  async bindIssuer(key: string, issuer: string): Promise<string> {
    const path = issuerFile(this.#folder, key);
    return locked(`${path}.write`, this.#waitMs, async () => {
      const bound = await this.#readIssuer(path, key);
      if (bound === undefined) await this.#replace(path, this.#sealer.seal(ISSUER_PURPOSE, '', { key, issuer }));
      return bound ?? issuer;
    });
  }

  async unbindIssuer(key: string): Promise<void> {
    await rm(issuerFile(this.#folder, key), { force: true });
  }

  async #readIssuer(path: string, key: string): Promise<string | undefined> {
    const sealed = await this.#readText(path);
    const found = sealed && (this.#sealer.open(ISSUER_PURPOSE, '', sealed) as { key?: unknown; issuer?: unknown });
    return found && found.key === key && typeof found.issuer === 'string' ? found.issuer : undefined;
  }

  exclusively<T>(key: string, work: (isSure: () => boolean) => Promise<T>): Promise<T> {
    return locked(`${this.#fileOf(key)}.lock`, this.#waitMs, () => work(() => true));
  }

  async #readFile(path: string): Promise<{ key: string; record: LoginRecord } | undefined> {
    const sealed = await this.#readText(path);
    // A file of another key is as good as none; a new login replaces it.
    return sealed === undefined ? undefined : (this.#sealer.open(PURPOSE, '', sealed) as never);
  }

  async #replace(path: string, content: string): Promise<void> {
    const temporary = `${path}-${randomId()}`;
    try {
      await writeFile(temporary, content, { mode: 0o600, flag: 'wx', flush: true });
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async #readText(path: string): Promise<string | undefined> {
    return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
  }

  #fileOf(key: string): string {
    return loginFile(this.#folder, key);
  }
}

/** Runs `work` while no other process runs work with this lock file; rejects if that cannot be had in time. */
export function locked<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const onLate = () =>
    new GatewayError('UPSTREAM_LOGIN_FAILED', { server: 'the server', reason: 'another process holds the login' });
  return withFileLock({ path, waitMs, onLate }, work);
}
