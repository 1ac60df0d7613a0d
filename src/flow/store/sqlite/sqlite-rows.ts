// The SQL statements of the SQLite store. They only read and write rows; sqlite.ts has the logic.
// Parameters are always one array: libsql would take a single Uint8Array for named parameters. Never bind a boolean: libsql crashes.
import type { Database } from 'libsql';

interface SessionRow {
  rev: number;
  /** Null while the session is open. */
  gone: number | null;
  fence: number;
  header: string;
}

/** A session and its journal, read in one statement, so that both are of the same commit. */
interface WholeRow {
  gone: number | null;
  header: string;
  /** The lists of its entries, joined by commas; null once they are deleted. */
  lists: string | null;
}

export interface ListedRow {
  id: string;
  header: string;
  due: number | null;
  until: number;
  owner: string | null;
  gone: number | null;
}

type Value = string | number | null | Uint8Array;
type Query<Result> = (...values: Value[]) => Result;

export type Rows = ReturnType<typeof prepareSessions> &
  ReturnType<typeof prepareLeases> &
  ReturnType<typeof prepareExpiring>;

export function prepareRows(db: Database): Rows {
  const statements = new Statements(db);
  return { ...prepareSessions(statements), ...prepareLeases(statements), ...prepareExpiring(statements) };
}

/** Each statement is prepared once. */
class Statements {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get<Row>(sql: string): Query<Row | undefined> {
    const statement = this.#db.prepare(sql);
    return (...values) => statement.get(values) as Row | undefined;
  }

  all<Row>(sql: string): Query<Row[]> {
    const statement = this.#db.prepare(sql);
    return (...values) => statement.all(values) as Row[];
  }

  /** Returns the number of changed rows. */
  run(sql: string): Query<number> {
    const statement = this.#db.prepare(sql);
    return (...values) => statement.run(values).changes;
  }
}

const LISTED = 'id, header, due, until, owner, gone';

function prepareSessions(db: Statements) {
  return {
    session: db.get<SessionRow>('SELECT rev, gone, fence, header FROM sessions WHERE id = ?'),
    whole: db.get<WholeRow>(
      `SELECT gone, header, (SELECT group_concat(list, ',' ORDER BY rev) FROM entries WHERE entries.id = sessions.id) AS lists
       FROM sessions WHERE id = ?`,
    ),
    insert: db.run('INSERT INTO sessions (id, principal, created, rev, due, header) VALUES (?, ?, ?, ?, ?, ?)'),
    update: db.run('UPDATE sessions SET rev = rev + 1, due = ?, gone = ?, header = ? WHERE id = ? AND rev = ?'),
    remove: db.run('DELETE FROM sessions WHERE id = ?'),
    forgetOutcome: db.run(
      "UPDATE sessions SET header = json_remove(header, '$.outcome') WHERE id = ? AND gone IS NOT NULL",
    ),
    addEntries: db.run('INSERT INTO entries (id, rev, list) VALUES (?, ?, ?)'),
    wipeEntries: db.run('DELETE FROM entries WHERE id = ?'),
    /** Open sessions of a principal, and of all principals between two texts; both count up to a limit. */
    openOf: db.get<{ n: number }>(
      'SELECT count(*) AS n FROM (SELECT 1 FROM sessions WHERE principal = ? AND gone IS NULL LIMIT ?)',
    ),
    openBetween: db.get<{ n: number }>(
      'SELECT count(*) AS n FROM (SELECT 1 FROM sessions WHERE principal >= ? AND principal < ? AND gone IS NULL LIMIT ?)',
    ),
    counters: db.get<{ open: number; ended: number; salt: string }>('SELECT open, ended, salt FROM counters'),
    list: db.all<{ header: string }>(
      'SELECT header FROM sessions WHERE principal = ? AND gone IS NULL ORDER BY created',
    ),
    /** By id, after this one. */
    page: db.all<ListedRow>(`SELECT ${LISTED} FROM sessions WHERE id > ? ORDER BY id LIMIT ?`),
    one: db.all<ListedRow>(`SELECT ${LISTED} FROM sessions WHERE id = ?`),
  };
}

function prepareLeases(db: Statements) {
  const take = 'UPDATE sessions SET owner = ?1, until = ?2, fence = fence + 1 WHERE id = ?3 AND gone IS NULL';
  return {
    lease: db.get<{ fence: number }>(`${take} AND (owner IS NULL OR owner = ?1 OR until <= ?4) RETURNING fence`),
    /** Takes it from this owner. */
    seize: db.get<{ fence: number }>(`${take} AND owner = ?4 RETURNING fence`),
    ownerOf: db.get<{ owner: string | null }>('SELECT owner FROM sessions WHERE id = ? AND gone IS NULL'),
    release: db.run('UPDATE sessions SET owner = NULL, until = 0 WHERE id = ? AND owner = ?'),
    due: db.all<{ id: string }>('SELECT id FROM sessions WHERE due <= ?1 AND until <= ?1 ORDER BY due LIMIT ?2'),
    held: db.all<{ id: string; owner: string }>(
      'SELECT id, owner FROM sessions WHERE due <= ? AND until > ? AND owner IS NOT NULL ORDER BY due LIMIT ?',
    ),
  };
}

/** Spent turns, blobs and the removal of what has expired. */
function prepareExpiring(db: Statements) {
  return {
    spend: db.run(
      `INSERT INTO spent (id, rev, until) VALUES (?1, ?2, ?3)
       ON CONFLICT DO UPDATE SET until = ?3 WHERE until <= ?4`,
    ),
    putBlob: db.run(
      `INSERT INTO blobs (sha256, until, bytes) VALUES (?1, ?2, ?3)
       ON CONFLICT DO UPDATE SET until = max(until, ?2), bytes = ?3`,
    ),
    getBlob: db.get<{ bytes: ArrayBuffer }>('SELECT bytes FROM blobs WHERE sha256 = ? AND until > ?'),
    removeExpired: [
      db.run('DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE gone <= ? LIMIT ?)'),
      db.run('DELETE FROM spent WHERE (id, rev) IN (SELECT id, rev FROM spent WHERE until <= ? LIMIT ?)'),
      db.run('DELETE FROM blobs WHERE rowid IN (SELECT rowid FROM blobs WHERE until <= ? LIMIT ?)'),
    ],
    removeOldest: db.run(
      'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE gone > 0 ORDER BY gone LIMIT ?)',
    ),
  };
}
