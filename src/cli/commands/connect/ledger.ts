// What `parley connect` has changed, so that it can be taken back: the bytes of each file before and after, kept in the state folder under their digests. Invariant:
// a record is written before its file is changed. Whether the change was made, the digest of the file says: a process may be killed at any moment.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../../../kernel/files/private-file.ts';
import { digestOf, readBytes } from './safe-file.ts';

/** `null` is a file that is not there. */
export interface FileRecord {
  client: string;
  path: string;
  before: string | null;
  after: string;
}

/** The user's own configuration: as it was before the first client, and every state that was written since. */
export interface OwnRecord {
  path: string;
  before: string | null;
  written: string[];
  /** The user has changed it since: it is never taken back. */
  isEdited?: boolean;
}

export interface LedgerState {
  own?: OwnRecord | undefined;
  /** Oldest first. */
  files: FileRecord[];
}

export class Ledger {
  readonly #folder: string;

  /** `stateFolder`: of the user. */
  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'connect');
  }

  get lockPath(): string {
    return join(this.#folder, 'lock');
  }

  read(): LedgerState {
    const text = readIfThere(this.#path);
    if (text === undefined) return { files: [] };
    const { own, files = [] } = JSON.parse(text) as Partial<LedgerState>;
    return { own, files };
  }

  /** Bytes that nothing names any more are removed. */
  write(state: LedgerState): void {
    writePrivateFile(this.#path, `${JSON.stringify(state, undefined, 2)}\n`);
    const used = new Set([
      ...state.files.flatMap(({ before, after }) => [before, after]),
      ...(state.own ? [state.own.before, ...state.own.written] : []),
    ]);
    for (const name of readdirSync(this.#kept)) if (!used.has(name)) rmSync(join(this.#kept, name), { force: true });
  }

  /** Their digest. */
  keep(bytes: Buffer | undefined): string | null {
    const digest = digestOf(bytes);
    mkdirSync(this.#kept, { recursive: true, mode: 0o700 });
    if (digest !== null && bytes) writePrivateFile(join(this.#kept, digest), bytes);
    return digest;
  }

  /** Throws if they are not there, or not what they were. */
  bytesOf(digest: string | null): Buffer | undefined {
    if (digest === null) return undefined;
    const bytes = readBytes(join(this.#kept, digest));
    if (bytes === undefined || digestOf(bytes) !== digest)
      throw new Error('what the file was before is no longer kept');
    return bytes;
  }

  get #path(): string {
    return join(this.#folder, 'ledger.json');
  }

  get #kept(): string {
    return join(this.#folder, 'files');
  }
}
