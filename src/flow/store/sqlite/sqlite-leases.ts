// Leases, spent turns, blobs and the removal of expired data in the SQLite store.
import type { Database } from 'libsql';
import type { LeaseHolder } from '../../../shared/files/lease-holder.ts';
import { prepareStatements } from './sqlite-rows.ts';

export interface Leases {
  lease(id: string, owner: string, ms: number): { fence: number } | undefined;
  release(id: string, owner: string): void;
  /** Sessions whose holder is dead. */
  abandoned(at: number, max: number): string[];
  spend(id: string, rev: number, ttlMs: number): boolean;
  putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): void;
  getBlob(sha256: string): Uint8Array | undefined;
  /** Removes some expired data, at most once a second. */
  forget(): void;
}

const FORGET_EVERY_MS = 1000;
/** Rows per run, so that no commit waits long. */
const FORGET_MOST = 500;

/** A held session is due when its lease expires, so sessions due soon may have a dead holder. */
const LOOK_AHEAD_MS = 60_000;
const LOOK_MOST = 500;

export interface LeaseOptions {
  now: () => number;
  maxTombstones: number;
  holder: LeaseHolder;
}

export function prepareLeases(db: Database, { now, maxTombstones, holder }: LeaseOptions): Leases {
  const { get, run } = prepareStatements(db);
  const spend = run(
    `INSERT INTO spent (id, rev, until) VALUES (?1, ?2, ?3)
     ON CONFLICT DO UPDATE SET until = ?3 WHERE until <= ?4`,
  );
  const putBlob = run(
    `INSERT INTO blobs (sha256, until, bytes) VALUES (?1, ?2, ?3)
     ON CONFLICT DO UPDATE SET until = max(until, ?2), bytes = ?3`,
  );
  const getBlob = get('SELECT bytes FROM blobs WHERE sha256 = ? AND until > ?');
  const forget = prepareForgetting(db, maxTombstones);
  let forgotten = 0;
  return {
    ...prepareHolding(db, now, holder),
    spend: (id, rev, ttlMs) => spend(id, rev, now() + ttlMs, now()) === 1,
    putBlob: (sha256, bytes, ttlMs) => void putBlob(sha256, now() + ttlMs, bytes),
    getBlob(sha256) {
      const row = getBlob(sha256, now()) as { bytes: ArrayBuffer } | undefined;
      return row && new Uint8Array(row.bytes);
    },
    forget() {
      if (now() - forgotten < FORGET_EVERY_MS) return;
      forgotten = now();
      forget(forgotten);
    },
  };
}

type HeldShare = Pick<Leases, 'lease' | 'release' | 'abandoned'>;

function prepareHolding(db: Database, now: () => number, holder: LeaseHolder): HeldShare {
  const { all, get, run } = prepareStatements(db);
  const take = 'UPDATE sessions SET owner = ?1, until = ?2, fence = fence + 1 WHERE id = ?3 AND gone IS NULL';
  const lease = get(`${take} AND (owner IS NULL OR owner = ?1 OR until <= ?4) RETURNING fence`);
  const seize = get(`${take} AND owner = ?4 RETURNING fence`);
  const ownerOf = get('SELECT owner FROM sessions WHERE id = ? AND gone IS NULL');
  const held = all<{ id: string; owner: string }>(
    'SELECT id, owner FROM sessions WHERE due <= ? AND until > ? AND owner IS NOT NULL ORDER BY due LIMIT ?',
  );
  const release = run('UPDATE sessions SET owner = NULL, until = 0 WHERE id = ? AND owner = ?');
  return {
    lease(id, owner, ms) {
      const [mine, until] = [holder.marked(owner), now() + ms];
      const row = lease(mine, until, id, now()) as { fence: number } | undefined;
      if (row) return { fence: row.fence };
      const other = (ownerOf(id) as { owner: string | null } | undefined)?.owner;
      if (!other || !holder.isDead(other)) return undefined;
      return { fence: (seize(mine, until, id, other) as { fence: number }).fence };
    },
    release: (id, owner) => void release(id, holder.marked(owner)),
    abandoned: (at, max) =>
      held(at + LOOK_AHEAD_MS, at, LOOK_MOST)
        .filter(({ owner }) => holder.isDead(owner))
        .slice(0, max)
        .map(({ id }) => id),
  };
}

function prepareForgetting(db: Database, maxTombstones: number): (at: number) => void {
  const { get, run } = prepareStatements(db);
  const ended = get('SELECT ended FROM counters');
  const oldest = run('DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE gone > 0 ORDER BY gone LIMIT ?)');
  const past = [
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE gone <= ? LIMIT ?)',
    'DELETE FROM spent WHERE (id, rev) IN (SELECT id, rev FROM spent WHERE until <= ? LIMIT ?)',
    'DELETE FROM blobs WHERE rowid IN (SELECT rowid FROM blobs WHERE until <= ? LIMIT ?)',
  ].map(run);
  return (at) => {
    for (const remove of past) remove(at, FORGET_MOST);
    const tooMany = (ended() as { ended: number }).ended - maxTombstones;
    if (tooMany > 0) oldest(tooMany);
  };
}
