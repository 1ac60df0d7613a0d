// The statements of the Postgres store, and how a header becomes a row and back. Each statement is a transaction of its own, and reads all that it
// reads at one moment.
import type { Header } from '../../journal.ts';
import { isObject } from '../../../kernel/message.ts';
import { readHeaderText } from '../read-row.ts';
import type { PostgresCipher } from './postgres-cipher.ts';
import { NOW } from './postgres-tables.ts';

export interface SessionRow {
  id: string;
  rev: number;
  header: unknown;
}

export interface FoundRow extends SessionRow {
  mark: string;
  forgotten: boolean;
}

export interface WholeRow extends SessionRow {
  /** The revisions and lists of its entries; null once they are deleted. */
  lists: [number, string][] | null;
}

export interface BrowsedRow extends SessionRow {
  due: number | null;
  until: number;
}

/** The statements for a schema. A missing value is null. */
export function toStatements(schema: string) {
  const sessions = `${schema}.sessions`;
  const remembered = `(gone IS NULL OR gone > ${NOW})`;
  const listed = `SELECT id, rev, header, due, until FROM ${sessions} WHERE ${remembered}`;
  return {
    create: `SELECT ${schema}.begin_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS result`,
    load: `SELECT id, rev, header,
        (SELECT json_agg(json_build_array(rev, list) ORDER BY rev) FROM ${schema}.entries WHERE id = $1) AS lists
      FROM ${sessions} WHERE id = $1 AND ${remembered}`,
    commit: toCommit(schema),
    /** Those that are forgotten but not yet removed as well. */
    find: `SELECT id, rev, header, mark, NOT ${remembered} AS forgotten FROM ${sessions} WHERE id = $1`,
    lease: `UPDATE ${sessions} SET owner = $2, until = ${NOW} + $3::float8, fence = fence + 1
      WHERE id = $1 AND gone IS NULL AND (owner IS NULL OR owner = $2 OR until <= ${NOW}) RETURNING fence`,
    release: `UPDATE ${sessions} SET owner = NULL, until = 0 WHERE id = $1 AND owner = $2`,
    due: `SELECT id FROM ${sessions} WHERE due <= $1 AND (owner IS NULL OR until <= ${NOW}) ORDER BY due LIMIT $2`,
    list: `SELECT id, rev, header FROM ${sessions} WHERE principal = $1 AND gone IS NULL ORDER BY created`,
    page: `${listed} AND id > $1 ORDER BY id LIMIT $2`,
    one: `${listed} AND id = $1`,
    forgetOutcome: `UPDATE ${sessions} SET header = header - 'outcome' WHERE id = $1 AND gone IS NOT NULL`,
    drop: `DELETE FROM ${sessions} WHERE id = $1`,
    spend: `INSERT INTO ${schema}.spent AS old VALUES ($1, $2, ${NOW} + $3::float8, $4)
      ON CONFLICT (id, rev) DO UPDATE SET until = excluded.until, mark = excluded.mark
      WHERE old.until <= ${NOW} OR old.mark = excluded.mark RETURNING 1`,
    putBlob: `INSERT INTO ${schema}.blobs AS old VALUES ($1, ${NOW} + $2::float8, $3)
      ON CONFLICT (name) DO UPDATE SET until = greatest(old.until, excluded.until), bytes = excluded.bytes`,
    getBlob: `SELECT bytes FROM ${schema}.blobs WHERE name = $1 AND until > ${NOW}`,
    forget: [
      ['sessions', 'id', 'gone'],
      ['spent', '(id, rev)', 'until'],
      ['blobs', 'name', 'until'],
    ].map(
      ([table, key, until]) => `DELETE FROM ${schema}.${table} WHERE ${key} IN
        (SELECT ${key!.replaceAll(/[()]/g, '')} FROM ${schema}.${table} WHERE ${until} <= ${NOW} LIMIT $1 FOR UPDATE SKIP LOCKED)`,
    ),
    /** The oldest ended sessions beyond so many. */
    removeOldest: `DELETE FROM ${sessions} WHERE id IN
      (SELECT id FROM ${sessions} WHERE gone IS NOT NULL ORDER BY gone DESC OFFSET $1 LIMIT $2)`,
  };
}

/**
 * $1 id, $2 expected rev, $3 fence, $4 fields to set, $5 fields to remove, $6 mark, $7 due, $8 entries, $9 how long it is remembered if it ends
 * (null while it goes on).
 */
function toCommit(schema: string): string {
  return `WITH done AS (
      UPDATE ${schema}.sessions SET
        header = CASE WHEN $9::float8 <= 0 THEN '{}' ELSE (header || $4::jsonb) - $5::text[] END,
        rev = rev + 1,
        mark = $6,
        due = CASE WHEN $9::float8 IS NULL THEN coalesce($7::float8, ((header || $4::jsonb)->>'expiresAt')::float8) END,
        gone = ${NOW} + $9::float8,
        owner = CASE WHEN $9::float8 IS NULL THEN owner END,
        until = CASE WHEN $9::float8 IS NULL THEN until ELSE 0 END
      WHERE id = $1 AND rev = $2 AND gone IS NULL AND ($3::int IS NULL OR fence <= $3::int) AND header ? 'state'
      RETURNING id, rev
    ), added AS (
      INSERT INTO ${schema}.entries SELECT id, rev, $8 FROM done WHERE $8::text IS NOT NULL AND $9::float8 IS NULL
    ), wiped AS (
      DELETE FROM ${schema}.entries WHERE $9::float8 IS NOT NULL AND id IN (SELECT id FROM done)
    )
    SELECT rev FROM done`;
}

/** Fields that are never encrypted, as numbers are not: for people who look into the table. */
const PLAIN = new Set(['id', 'tool', 'version', 'principal', 'share', 'state', 'via']);
/** Stands in front of a sealed field; no JSON begins with it. */
const SEAL = '~';
/** Invalid JSON, so that its row is a damaged one. */
const UNREADABLE = '?';

/** How texts are written into rows, and read. */
export interface RowTexts {
  toFields(id: string, part: Partial<Header>): { set: Record<string, string>; remove: string[] };
  toHeader(row: SessionRow): Header;
  toList(id: string, rev: number, text: string): string;
  fromList(id: string, rev: number, list: string): string;
}

export function createRowTexts(cipher: PostgresCipher | undefined): RowTexts {
  const isSealed = (name: string, text: string): boolean => !PLAIN.has(name) && !/^(?:-?\d|true|false|null)/.test(text);
  const seal = (place: string, text: string): string => cipher!.seal(place, text);
  const open = (place: string, text: string): string => cipher!.open(place, text) ?? UNREADABLE;
  const fieldOf = (id: string, name: string, text: unknown): string => {
    if (typeof text !== 'string') return UNREADABLE;
    // With a key, a text that is not sealed was put there by somebody else.
    if (!cipher || !isSealed(name, text)) return text;
    return text.startsWith(SEAL) ? open(`${id} ${name}`, text.slice(SEAL.length)) : UNREADABLE;
  };
  return {
    toFields(id, part) {
      const [set, remove]: [Record<string, string>, string[]] = [{}, []];
      for (const [name, value] of Object.entries(part)) {
        const text = value === undefined || name === 'rev' ? undefined : JSON.stringify(value);
        if (text === undefined) remove.push(name);
        else set[name] = cipher && isSealed(name, text) ? SEAL + seal(`${id} ${name}`, text) : text;
      }
      return { set, remove };
    },
    toHeader({ id, rev, header }) {
      if (!isObject(header)) return readHeaderText(UNREADABLE, fromRowKey(id));
      const members = Object.entries(header).map(
        ([name, text]) => `${JSON.stringify(name)}:${fieldOf(fromRowKey(id), name, text)}`,
      );
      return readHeaderText(`{${[...members, `"rev":${rev}`].join(',')}}`, fromRowKey(id));
    },
    toList: (id, rev, text) => (cipher ? seal(`${id} ${rev}`, text) : text),
    fromList: (id, rev, list) => (cipher ? open(`${id} ${rev}`, list) : list),
  };
}

/** Postgres keeps no NUL and no half of a pair of surrogates. */
export function toRowKey(text: string): string {
  return text.replaceAll(/[\0\\\p{Surrogate}]/gu, (char) => `\\${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function fromRowKey(key: string): string {
  return key.replaceAll(/\\(?<code>[0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
