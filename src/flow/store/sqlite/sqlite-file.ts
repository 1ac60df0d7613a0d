// Opens the file of the SQLite store: creates it readable by its owner only, applies its key, and migrates its tables. Errors say what is wrong
// with the file. Only this module loads libsql, and only when a store is opened.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Libsql from 'libsql';
import type { Database } from 'libsql';
import { refuseShort } from '../../../kernel/crypto/state-keys.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';

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
async function prepareInTurn(db: Database, file: SqliteFile): Promise<void> {
  for (let tries = OPENING_MS / AGAIN_MS; ; tries--) {
    try {
      return prepareFile(db, file);
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || tries === 0) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

function prepareFile(db: Database, { path, readOnly }: SqliteFile): void {
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

/** "Parl", which identifies our files. */
const APPLICATION_ID = 0x5061726c;

/**
 * The tables. A released migration never changes; new ones are appended. `user_version` is the number of migrations that a file has.
 * 1. A session is open while `gone` is null. Its header is JSON; the other columns are for searching.
 *    `principal` is what sessions are counted and listed by: the share of the header if it has one.
 * 2. One row of `entries` holds the entries of one commit, as a JSON array.
 * 3. Triggers update the counters in the same transaction, so that they cannot drift.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    created INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    due INTEGER,
    gone INTEGER,
    owner TEXT,
    until INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    header TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX sessions_due ON sessions (due) WHERE due IS NOT NULL;
  CREATE INDEX sessions_open ON sessions (principal, created) WHERE gone IS NULL;
  CREATE INDEX sessions_gone ON sessions (gone) WHERE gone IS NOT NULL;

  CREATE TABLE entries (
    id TEXT NOT NULL,
    rev INTEGER NOT NULL,
    list TEXT NOT NULL,
    PRIMARY KEY (id, rev)
  ) WITHOUT ROWID;

  CREATE TABLE counters (open INTEGER NOT NULL, ended INTEGER NOT NULL);
  INSERT INTO counters VALUES (0, 0);
  CREATE TRIGGER session_begins AFTER INSERT ON sessions BEGIN
    UPDATE counters SET open = open + (new.gone IS NULL), ended = ended + (new.gone IS NOT NULL);
  END;
  CREATE TRIGGER session_ends AFTER UPDATE OF gone ON sessions WHEN (old.gone IS NULL) <> (new.gone IS NULL) BEGIN
    UPDATE counters SET open = open + (new.gone IS NULL) - (old.gone IS NULL),
      ended = ended + (new.gone IS NOT NULL) - (old.gone IS NOT NULL);
  END;
  CREATE TRIGGER session_goes AFTER DELETE ON sessions BEGIN
    UPDATE counters SET open = open - (old.gone IS NULL), ended = ended - (old.gone IS NOT NULL);
    DELETE FROM entries WHERE id = old.id;
  END;

  CREATE TABLE spent (
    id TEXT NOT NULL,
    rev INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (id, rev)
  ) WITHOUT ROWID;
  CREATE INDEX spent_until ON spent (until);

  CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, until INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE INDEX blobs_until ON blobs (until);
  `,
  `
  ALTER TABLE counters ADD COLUMN salt TEXT NOT NULL DEFAULT '';
  UPDATE counters SET salt = lower(hex(randomblob(8)));
  `,
];
