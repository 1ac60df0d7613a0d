// Opens the file of the SQLite store: creates it readable by its owner only, applies its key, and migrates its tables. Errors say what is wrong
// with the file. Only this file loads libsql, and only when a store is opened.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Libsql from 'libsql';
import type { Database } from 'libsql';
import { refuseShort } from '../../../shared/crypto/state-keys.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { APPLICATION_ID, MIGRATIONS } from './sqlite-schema.ts';

export interface SqliteFile {
  path: string;
  /** Encrypts the file. Any string; 32 random bytes in base64 are best. */
  key?: string | undefined;
  /** Opens an existing file for reading only. */
  readOnly?: boolean | undefined;
}

const PLAIN = 'SQLite format 3\0';
/** How long opening waits for another process that opens the file too. */
const OPENING_MS = 10_000;
const AGAIN_MS = 20;

export async function openSqliteFile({ path, key, readOnly = false }: SqliteFile): Promise<Database> {
  if (!path) throw new GatewayError('BAD_OPTION', { option: 'path', reason: 'is missing: the file for the sessions' });
  if (key === '') throw new GatewayError('BAD_OPTION', { option: 'key', reason: 'is empty' });
  if (key !== undefined && !existsSync(path)) refuseShort([key], 'key'); // an old file keeps its key
  if (readOnly && !existsSync(path)) unusable(`${path} does not exist`);
  const Library = await loadLibsql();
  try {
    if (!readOnly) createForOwner(path);
    const db = new Library(path, { timeout: OPENING_MS, ...(key === undefined ? {} : { encryptionKey: key }) });
    await prepareInTurn(db, { path, readOnly });
    return db;
  } catch (error) {
    throw told(error, { path, key });
  }
}

async function loadLibsql(): Promise<typeof Libsql> {
  try {
    return (await import('libsql')).default;
  } catch (cause) {
    const reason = 'the package libsql is not installed, or has no build for this machine (npm install libsql)';
    throw new GatewayError('STORE_UNUSABLE', { reason }, { cause });
  }
}

/** SQLite gives its side files the mode of the file. An existing file keeps its mode. */
function createForOwner(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

/** SQLite does not wait when two processes switch a new file to WAL at the same time, so this tries again. */
async function prepareInTurn(db: Database, file: Preparing): Promise<void> {
  for (let tries = OPENING_MS / AGAIN_MS; ; tries--) {
    try {
      return prepareFile(db, file);
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || tries === 0) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

interface Preparing {
  path: string;
  readOnly: boolean;
}

function prepareFile(db: Database, { path, readOnly }: Preparing): void {
  // Read schema_version first: another process may be creating the tables, and with them the application_id.
  const empty = numberOf(db, 'schema_version') === 0;
  const [owner, version] = [numberOf(db, 'application_id'), numberOf(db, 'user_version')];
  if (!empty && owner !== APPLICATION_ID) unusable(`${path} belongs to another program`);
  if (version > MIGRATIONS.length) unusable(`${path} was written by a newer Parley (format ${version})`);
  if (readOnly) {
    if (version < MIGRATIONS.length)
      unusable(`${path} ${empty ? 'holds no sessions' : 'was written by an older Parley'}`);
    db.exec('PRAGMA query_only = ON');
    db.exec('PRAGMA busy_timeout = 0');
    return;
  }
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  // Overwrite deleted data.
  db.exec('PRAGMA secure_delete = ON');
  if (version < MIGRATIONS.length) migrate(db);
  // sqlite-group.ts waits for other writers without blocking.
  db.exec('PRAGMA busy_timeout = 0');
}

function migrate(db: Database): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been first.
    for (const step of MIGRATIONS.slice(numberOf(db, 'user_version'))) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function numberOf(db: Database, pragma: string): number {
  const [row] = db.pragma(pragma) as [Record<string, number>];
  return row[pragma]!;
}

function told(error: unknown, { path, key }: SqliteFile): Error {
  if (error instanceof GatewayError) return error;
  const { code, message } = error as Error & { code?: string };
  const reason = code === 'SQLITE_NOTADB' ? whyNoDatabase(path, key) : `${path} cannot be opened: ${message}`;
  return new GatewayError('STORE_UNUSABLE', { reason }, { cause: error });
}

function whyNoDatabase(path: string, key: string | undefined): string {
  if (beginningOf(path) === PLAIN) return `${path} is not encrypted, and a key was given`;
  if (key === undefined) return `${path} is encrypted or not a SQLite file; give its key`;
  return `${path} does not open with this key, or is damaged`;
}

function beginningOf(path: string): string {
  const file = openSync(path, 'r');
  const bytes = Buffer.alloc(PLAIN.length);
  readSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
  return bytes.toString('latin1');
}

function unusable(reason: string): never {
  throw new GatewayError('STORE_UNUSABLE', { reason });
}
