// The tables of the SQLite store, as a list of migrations. A released migration never changes; new ones are appended. `user_version` is the
// number of migrations that a file has.
// 1. A session is open while `gone` is null. Its header is JSON; the other columns are for searching.
//    `principal` is what sessions are counted and listed by: the share of the header if it has one.
// 2. One row of `entries` holds the entries of one commit, as a JSON array.
// 3. Triggers update the counters in the same transaction, so that they cannot drift.

/** "Parl", which identifies our files. */
export const APPLICATION_ID = 0x5061726c;

export const MIGRATIONS: readonly string[] = [
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
