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

export interface Rows {
  session(id: string): SessionRow | undefined;
  whole(id: string): WholeRow | undefined;
  insert(row: { id: string; principal: string; created: number; rev: number; due: number; header: string }): void;
  /** False if the session is no longer at this rev. */
  update(id: string, rev: number, row: { due: number | null; gone: number | null; header: string }): boolean;
  remove(id: string): void;
  /** Removes `outcome` from the header of an ended session. */
  forgetOutcome(id: string): void;
  openOf(principal: string, atMost: number): number;
  /** Of all principals that begin with this text. */
  openAt(prefix: string, atMost: number): number;
  openInAll(): number;
  salt(): string;
  addEntries(id: string, rev: number, list: string): void;
  wipeEntries(id: string): void;
  due(at: number, max: number): string[];
  list(principal: string): string[];
  /** By id, after this one. */
  page(after: string, max: number): ListedRow[];
  one(id: string): ListedRow | undefined;
}

interface Prepared {
  get: (sql: string) => (...values: Value[]) => unknown;
  all: <Row>(sql: string) => (...values: Value[]) => Row[];
  run: (sql: string) => (...values: Value[]) => number;
}

type Value = string | number | null | Uint8Array;

const LISTED = 'id, header, due, until, owner, gone';

/** `onWiped` is called when session data is deleted. */
export function prepareRows(db: Database, onWiped: () => void): Rows {
  const { get, all, run } = prepareStatements(db);
  const session = get('SELECT rev, gone, fence, header FROM sessions WHERE id = ?');
  const whole = get(
    `SELECT gone, header, (SELECT group_concat(list, ',' ORDER BY rev) FROM entries WHERE entries.id = sessions.id) AS lists
     FROM sessions WHERE id = ?`,
  );
  const insert = run('INSERT INTO sessions (id, principal, created, rev, due, header) VALUES (?, ?, ?, ?, ?, ?)');
  const update = run('UPDATE sessions SET rev = rev + 1, due = ?, gone = ?, header = ? WHERE id = ? AND rev = ?');
  const remove = run('DELETE FROM sessions WHERE id = ?');
  const forgetOutcome = run(
    "UPDATE sessions SET header = json_remove(header, '$.outcome') WHERE id = ? AND gone IS NOT NULL",
  );
  const openOf = get('SELECT count(*) AS n FROM (SELECT 1 FROM sessions WHERE principal = ? AND gone IS NULL LIMIT ?)');
  const openAt = get(
    'SELECT count(*) AS n FROM (SELECT 1 FROM sessions WHERE principal >= ? AND principal < ? AND gone IS NULL LIMIT ?)',
  );
  const openInAll = get('SELECT open FROM counters');
  const salt = get('SELECT salt FROM counters');
  const addEntries = run('INSERT INTO entries (id, rev, list) VALUES (?, ?, ?)');
  const wipeEntries = run('DELETE FROM entries WHERE id = ?');
  const due = all<{ id: string }>('SELECT id FROM sessions WHERE due <= ?1 AND until <= ?1 ORDER BY due LIMIT ?2');
  const list = all<{ header: string }>(
    'SELECT header FROM sessions WHERE principal = ? AND gone IS NULL ORDER BY created',
  );
  const page = all<ListedRow>(`SELECT ${LISTED} FROM sessions WHERE id > ? ORDER BY id LIMIT ?`);
  const one = get(`SELECT ${LISTED} FROM sessions WHERE id = ?`);
  return {
    session: (id) => session(id) as SessionRow | undefined,
    whole: (id) => whole(id) as WholeRow | undefined,
    insert: (row) => void insert(row.id, row.principal, row.created, row.rev, row.due, row.header),
    update: (id, rev, row) => update(row.due, row.gone, row.header, id, rev) === 1,
    remove: (id) => (remove(id), onWiped()),
    forgetOutcome: (id) => (forgetOutcome(id), onWiped()),
    openOf: (principal, atMost) => (openOf(principal, atMost) as { n: number }).n,
    openAt: (prefix, atMost) => (openAt(prefix, `${prefix}\u{7f}`, atMost) as { n: number }).n,
    openInAll: () => (openInAll() as { open: number }).open,
    salt: () => (salt() as { salt: string }).salt,
    addEntries: (id, rev, text) => void addEntries(id, rev, text),
    wipeEntries: (id) => (wipeEntries(id), onWiped()),
    due: (at, max) => due(at, max).map(({ id }) => id),
    list: (principal) => list(principal).map(({ header }) => header),
    page: (after, max) => page(after, max),
    one: (id) => one(id) as ListedRow | undefined,
  };
}

/** Each statement is prepared once. `run` returns the number of changed rows. */
export function prepareStatements(db: Database): Prepared {
  return {
    get: (sql) => {
      const statement = db.prepare(sql);
      return (...values) => statement.get(values);
    },
    all: <Row>(sql: string) => {
      const statement = db.prepare(sql);
      return (...values: Value[]) => statement.all(values) as Row[];
    },
    run: (sql) => {
      const statement = db.prepare(sql);
      return (...values) => statement.run(values).changes;
    },
  };
}
