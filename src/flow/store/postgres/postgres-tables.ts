// Creates the tables of the Postgres store and brings them up to date, all or nothing, and checks whether the server is fit for it.
import { hash } from 'node:crypto';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { drawRandomBytes } from '../../../kernel/crypto/ids.ts';
import type { PostgresCipher } from './postgres-cipher.ts';
import type { PostgresConnection } from './postgres-connection.ts';

export interface TablesPlace {
  connection: PostgresConnection;
  schema: string;
  cipher: PostgresCipher | undefined;
  readOnly: boolean;
}

interface Format {
  version: number;
  salt: string;
  /** A text that the key of the store has sealed; null without a key. */
  seal: string | null;
}

const OLDEST_SERVER = 130_000;
/** Longer names are cut by Postgres, and would then be those of another store. */
const LONGEST_NAME = 50;
const SEALED = 'flows';

/** Returns the salt of the store. */
export async function prepareTables(place: TablesPlace): Promise<string> {
  const { connection, schema, readOnly } = place;
  await examine(place);
  const found = await readFormat(place);
  if (found && found.version > MIGRATIONS.length) {
    unusable(`the schema ${schema} was written by a newer Parley (format ${found.version})`);
  }
  if ((found?.version ?? 0) < MIGRATIONS.length) {
    if (readOnly) unusable(`the schema ${schema} ${found ? 'was written by an older Parley' : 'holds no sessions'}`);
    await connection.run(toMigration(place)).catch((error: unknown) => {
      const { cause } = error as Error;
      throw new GatewayError(
        'STORE_UNUSABLE',
        { reason: `the tables of ${schema} cannot be made: ${((cause ?? error) as Error).message}` },
        { cause },
      );
    });
  }
  const { salt, seal } = (await readFormat(place))!;
  await checkKey(place, seal);
  return salt;
}

/** In quotes, and refused if Postgres would cut it. */
export function toSchemaName(schema: string): string {
  if (schema === '' || schema.length > LONGEST_NAME || !/^[\w-]+$/.test(schema)) {
    const reason = `has 1 to ${LONGEST_NAME} letters, digits, "_" or "-"`;
    throw new GatewayError('BAD_OPTION', { option: 'schema', reason });
  }
  return `"${schema}"`;
}

async function examine({ connection, readOnly }: TablesPlace): Promise<void> {
  const [server] = await connection.run<{
    version: number;
    replica: boolean;
    fsync: string;
    encoding: string;
    waits: string;
  }>(
    `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS replica,
       current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS waits`,
  );
  const { version, replica, fsync, encoding, waits } = server!;
  if (version < OLDEST_SERVER) unusable(`this is Postgres ${Math.floor(version / 10_000)}; it needs 13 or later`);
  if (encoding !== 'UTF8') unusable(`this database has the encoding ${encoding}; it needs UTF8`);
  if (replica && !readOnly) unusable('this server is a replica, which cannot be written; give the URL of the primary');
  if (fsync === 'off' || waits === 'off') {
    createLog().warn({ fsync, synchronous_commit: waits }, 'flow.store-may-forget');
  }
}

async function readFormat({ connection, schema }: TablesPlace): Promise<Format | undefined> {
  const name = toSchemaName(schema);
  const [found] = await connection.run<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
    `${name}.format`,
  ]);
  if (!found!.there) return undefined;
  const [format] = await connection.run<Format>(`SELECT version, salt, seal FROM ${name}.format`);
  return format;
}

/** A store keeps being encrypted, or not, as it was made. Its sealed text moves on to the newest key. */
async function checkKey({ connection, schema, cipher, readOnly }: TablesPlace, seal: string | null): Promise<void> {
  if (seal === null) {
    if (cipher) unusable(`the schema ${schema} is not encrypted, and a key was given`);
    return;
  }
  if (!cipher) unusable(`the schema ${schema} is encrypted; give its key`);
  if (cipher.open('format', seal) !== SEALED) unusable(`the schema ${schema} does not open with this key`);
  if (!readOnly && !cipher.isNewest('format', seal)) {
    await connection.run(`UPDATE ${toSchemaName(schema)}.format SET seal = $1`, [cipher.seal('format', SEALED)]);
  }
}

/** One statement, so that it is done as a whole; many processes may start at once. */
function toMigration({ schema, cipher }: TablesPlace): string {
  const name = toSchemaName(schema);
  const salt = drawRandomBytes(8).toString('hex');
  const seal = cipher ? `'${cipher.seal('format', SEALED)}'` : 'NULL';
  const steps = MIGRATIONS.map(
    (step, index) =>
      `IF (SELECT version FROM ${name}.format) = ${index} THEN
         ${step(name, toLockNumber(schema))}
         UPDATE ${name}.format SET version = ${index + 1};
       END IF;`,
  );
  return `DO $migrate$ BEGIN
    PERFORM pg_advisory_xact_lock(${toLockNumber(schema)});
    IF to_regnamespace('${name}') IS NULL THEN CREATE SCHEMA ${name}; END IF;
    IF to_regclass('${name}.format') IS NULL THEN
      CREATE TABLE ${name}.format (version int NOT NULL, salt text NOT NULL, seal text);
      INSERT INTO ${name}.format VALUES (0, '${salt}', ${seal});
    END IF;
    ${steps.join('\n')}
  END $migrate$`;
}

/** Of the lock under which sessions are created. */
function toLockNumber(schema: string): number {
  return Number.parseInt(hash('sha256', `mcp-parley/flow-store\0${schema}`).slice(0, 12), 16);
}

function unusable(reason: string): never {
  throw new GatewayError('STORE_UNUSABLE', { reason });
}

/** The server's time in milliseconds, so that clocks of machines may differ. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/**
 * The tables. A released migration never changes; new ones are appended. `format` has the number of migrations that were made.
 * 1. A session is open while `gone` is null. `header` has a JSON text for each field of the header, so that a commit sets single fields without
 *    reading them, and Postgres never sees texts that it cannot keep (a NUL, half a pair of surrogates). The other columns are for searching.
 *    `principal` is what sessions are counted and listed by: the share of the header if it has one.
 * 2. One row of `entries` holds the entries of one commit, as a JSON array.
 * 3. `mark` is that of the last change: one that is repeated after a broken connection finds its own.
 */
const MIGRATIONS: readonly ((schema: string, lock: number) => string)[] = [
  (schema, lock) => `
  CREATE TABLE ${schema}.sessions (
    id text COLLATE "C" PRIMARY KEY,
    principal text COLLATE "C" NOT NULL,
    created float8 NOT NULL,
    rev int NOT NULL,
    due float8,
    gone float8,
    owner text,
    until float8 NOT NULL DEFAULT 0,
    fence int NOT NULL DEFAULT 0,
    mark text NOT NULL,
    header jsonb NOT NULL
  );
  CREATE INDEX sessions_due ON ${schema}.sessions (due) WHERE due IS NOT NULL;
  CREATE INDEX sessions_open ON ${schema}.sessions (principal, created) WHERE gone IS NULL;
  CREATE INDEX sessions_gone ON ${schema}.sessions (gone) WHERE gone IS NOT NULL;

  CREATE TABLE ${schema}.entries (
    id text COLLATE "C" NOT NULL REFERENCES ${schema}.sessions ON DELETE CASCADE,
    rev int NOT NULL,
    list text NOT NULL,
    PRIMARY KEY (id, rev)
  );

  CREATE TABLE ${schema}.spent (
    id text COLLATE "C" NOT NULL,
    rev int NOT NULL,
    until float8 NOT NULL,
    mark text NOT NULL,
    PRIMARY KEY (id, rev)
  );
  CREATE INDEX spent_until ON ${schema}.spent (until);

  CREATE TABLE ${schema}.blobs (name text COLLATE "C" PRIMARY KEY, until float8 NOT NULL, bytes bytea NOT NULL);
  CREATE INDEX blobs_until ON ${schema}.blobs (until);

  ${toBeginSession(schema, lock)}
  `,
];

/** Under a lock, so that two cannot both be the last within a limit. */
function toBeginSession(schema: string, lock: number): string {
  const openOnes = (which: string, most: string): string =>
    `SELECT count(*) FROM (SELECT FROM ${schema}.sessions WHERE gone IS NULL AND ${which} LIMIT ${most}) AS open`;
  return `
  CREATE FUNCTION ${schema}.begin_session(
    its_id text, its_mark text, its_principal text, its_network text, its_created float8, its_rev int, its_due float8,
    its_header jsonb, its_list text, most int, most_of_principal int, most_of_network int
  ) RETURNS text LANGUAGE plpgsql AS $begin$
  DECLARE
    there ${schema}.sessions%ROWTYPE;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lock});
    SELECT * INTO there FROM ${schema}.sessions WHERE id = its_id FOR UPDATE;
    IF FOUND AND (there.gone IS NULL OR there.gone > ${NOW}) THEN
      RETURN CASE WHEN there.mark = its_mark THEN 'ok' ELSE 'exists' END;
    END IF;
    IF most <= (${openOnes('true', 'most')}) THEN
      RETURN 'limit';
    END IF;
    IF most_of_principal <= (${openOnes('principal = its_principal', 'most_of_principal')}) THEN
      RETURN 'limit';
    END IF;
    IF most_of_network <= (${openOnes('principal >= its_network AND principal < its_network || chr(1114111)', 'most_of_network')}) THEN
      RETURN 'network';
    END IF;
    DELETE FROM ${schema}.sessions WHERE id = its_id;
    INSERT INTO ${schema}.sessions (id, principal, created, rev, due, mark, header)
      VALUES (its_id, its_principal, its_created, its_rev, its_due, its_mark, its_header);
    INSERT INTO ${schema}.entries VALUES (its_id, its_rev, its_list);
    RETURN 'ok';
  END $begin$;
  `;
}
