// A store in one SQLite file: durable with every commit, shared by several processes on one machine, and encrypted if there is a key. Every
// change runs in a transaction of the write group.
import type { Clock } from '../../../shared/clock.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { patchHeader, networkOfShare, TOMBSTONE_MS } from '../store.ts';
import { isEnded } from '../../header.ts';
import { openSqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';
import { createWriteGroup } from './sqlite-group.ts';
import type { WriteGroup } from './sqlite-group.ts';
import { createWalCleaner } from './wal-cleaner.ts';
import { createLeaseHolder } from '../../../shared/files/lease-holder.ts';
import type { LeaseHolder } from '../../../shared/files/lease-holder.ts';
import { prepareLeases } from './sqlite-leases.ts';
import { prepareRows } from './sqlite-rows.ts';
import type { ListedRow, Rows } from './sqlite-rows.ts';
import type {
  SessionChange,
  CommitResult,
  CreateResult,
  FlowStore,
  ListedSession,
  SessionLimits,
  StoredSession,
} from '../store.ts';

export interface SqliteOptions extends SqliteFile {
  /** How many ended sessions are remembered; the oldest are removed first. */
  maxTombstones?: number | undefined;
  clock?: Clock | undefined;
}

const MAX_TOMBSTONES = 10_000;

export async function createSqliteStore(options: SqliteOptions): Promise<FlowStore> {
  return openSqliteStore(options, createLeaseHolder());
}

/** `holder` identifies this process. */
export async function openSqliteStore(options: SqliteOptions, holder: LeaseHolder): Promise<FlowStore> {
  const db = await openSqliteFile(options);
  const clock = options.clock ?? systemClock;
  const now = () => clock.now();
  const log = options.key === undefined && !options.readOnly ? createWalCleaner(db) : undefined;
  const rows = prepareRows(db, () => log?.markDirty());
  const { maxTombstones = MAX_TOMBSTONES } = options;
  const leases = prepareLeases(db, { now, maxTombstones, holder });
  const group = createWriteGroup(db, { first: () => leases.forget(), log });
  const salt = await group
    .read(() => rows.salt())
    .catch(async (thrown: unknown) => {
      await group.close();
      throw thrown;
    });
  return {
    durable: true,
    salt,
    create(header, entries, limits) {
      const made = { header: { ...header }, text: JSON.stringify(header), list: JSON.stringify(entries) };
      return group.write(() => create(rows, made, limits, now()));
    },
    load: (id) => group.read(() => load(rows, id, now())),
    commit(id, expectRev, { add, ...change }) {
      const list = add?.length ? JSON.stringify(add) : undefined;
      return group.write(() => commit(rows, { ...change, id, expectRev, list }, now()));
    },
    lease: (id, owner, ms) => group.write(() => leases.lease(id, owner, ms)),
    release: (id, owner) => group.write(() => leases.release(id, owner)),
    due: (at, max) => group.read(() => [...leases.abandoned(at, max), ...rows.due(at, max)].slice(0, max)),
    spend: (id, rev, ttlMs) => group.write(() => leases.spend(id, rev, ttlMs)),
    putBlob: (sha256, bytes, ttlMs) => group.write(() => leases.putBlob(sha256, bytes, ttlMs)),
    getBlob: (sha256) => group.read(() => leases.getBlob(sha256)),
    list: (principal) => group.read(() => rows.list(principal).map((text) => JSON.parse(text) as Header)),
    browse: (id) => browse({ rows, group, now, holder }, id),
    forgetOutcome: (id) => group.write(() => rows.forgetOutcome(id)),
    drop: (id) => group.write(() => rows.remove(id)),
    close: () => group.close(),
  };
}

interface Made {
  header: Header;
  text: string;
  list: string;
}

function create(rows: Rows, { header, text, list }: Made, limits: SessionLimits, now: number): CreateResult {
  const { id, share: principal = header.principal, createdAt, rev, expiresAt } = header;
  const there = rows.session(id);
  if (there && !isForgotten(there, now)) return 'exists';
  if (rows.openInAll() >= limits.total || rows.openOf(principal, limits.perPrincipal) >= limits.perPrincipal) {
    return 'limit';
  }
  const { perNetwork } = limits;
  const network = perNetwork === undefined ? undefined : networkOfShare(header);
  if (network !== undefined && rows.openAt(network, perNetwork!) >= perNetwork!) return 'network';
  if (there) rows.remove(id);
  rows.insert({ id, principal, created: createdAt, rev, due: limits.dueAt ?? expiresAt, header: text });
  rows.addEntries(id, rev, list);
  return 'ok';
}

function load(rows: Rows, id: string, now: number): StoredSession | undefined {
  const row = rows.whole(id);
  if (!row || isForgotten(row, now)) return undefined;
  const lists = JSON.parse(`[${row.lists ?? ''}]`) as JournalEntry[][];
  return { header: JSON.parse(row.header) as Header, entries: lists.flat() };
}

const PAGE = 200;

/** Other processes may write between two pages. A session that exists all the time appears once. */
async function* browse(
  { rows, group, now, holder }: { rows: Rows; group: WriteGroup; now: () => number; holder: LeaseHolder },
  id?: string,
): AsyncGenerator<ListedSession[]> {
  const seen = (page: ListedRow[]) =>
    page.filter((row) => !isForgotten(row, now())).map((row) => toListed(row, holder));
  if (id !== undefined) {
    const row = await group.read(() => rows.one(id));
    return yield seen(row ? [row] : []);
  }
  for (let after = ''; ;) {
    const from = after;
    const page = await group.read(() => rows.page(from, PAGE));
    yield seen(page);
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

function toListed({ header, due, until, owner }: ListedRow, holder: LeaseHolder): ListedSession {
  return {
    header: JSON.parse(header) as Header,
    ...(due !== null && { dueAt: due }),
    ...(until > 0 && !(owner !== null && holder.isDead(owner)) && { heldUntil: until }),
  };
}

interface Asked extends SessionChange {
  id: string;
  expectRev: number;
  /** The entries in JSON. */
  list: string | undefined;
}

function commit(rows: Rows, change: Asked, now: number): CommitResult {
  const { id, expectRev, fence, list } = change;
  const row = rows.session(id);
  if (!row || isForgotten(row, now)) return { ok: false, header: undefined };
  const header = JSON.parse(row.header) as Header;
  const fencedOff = fence !== undefined && fence < row.fence;
  if (row.gone !== null || row.rev !== expectRev || fencedOff) return { ok: false, header };
  const next = patchHeader(header, change.patch);
  if (isEnded(next)) end(rows, next, now + (change.tombstoneMs ?? TOMBSTONE_MS));
  else {
    rows.update(id, expectRev, { due: change.dueAt ?? next.expiresAt, gone: null, header: JSON.stringify(next) });
    if (list) rows.addEntries(id, next.rev, list);
  }
  return { ok: true, rev: next.rev };
}

function end(rows: Rows, header: Header, gone: number): void {
  rows.update(header.id, header.rev - 1, { due: null, gone, header: JSON.stringify(header) });
  rows.wipeEntries(header.id);
}

function isForgotten({ gone }: { gone: number | null }, now: number): boolean {
  return gone !== null && gone <= now;
}
