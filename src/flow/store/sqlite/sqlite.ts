// A store in one SQLite file: durable with every commit, shared by several processes on one machine, and encrypted if there is a key. Every
// change runs in a transaction of the write group.
import type { Database } from 'libsql';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { createLeaseHolder } from '../../../kernel/files/lease-holder.ts';
import type { LeaseHolder } from '../../../kernel/files/lease-holder.ts';
import { isEnded, networkOfShare, patchHeader } from '../../header.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { TOMBSTONE_MS } from '../store.ts';
import type {
  SessionChange,
  CommitResult,
  CreateResult,
  FlowStore,
  ListedSession,
  SessionLimits,
  StoredSession,
} from '../store.ts';
import { openSqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';
import { createWalCleaner, createWriteGroup } from './sqlite-group.ts';
import type { WalCleaner, WriteGroup } from './sqlite-group.ts';
import { prepareRows } from './sqlite-rows.ts';
import { readEntriesText, readHeaderText, readRows } from '../read-row.ts';
import type { ListedRow, Rows } from './sqlite-rows.ts';

export interface SqliteOptions extends SqliteFile {
  /** How many ended sessions are remembered; the oldest are removed first. */
  maxTombstones?: number | undefined;
  clock?: Clock | undefined;
}

const MAX_TOMBSTONES = 10_000;
const PAGE = 200;

const FORGET_EVERY_MS = 1000;
/** Rows per run, so that no commit waits long. */
const FORGET_MOST = 500;

/** A held session is due when its lease expires, so sessions due soon may have a dead holder. */
const LOOK_AHEAD_MS = 60_000;
const LOOK_MOST = 500;

/**
 * Keeps sessions in a SQLite file, durable at every answer.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 * import { createSqliteStore, flow, serveFlows } from 'mcp-parley/flow';
 *
 * const trip = flow({ name: 'trip' }, async (ask) => `Booked: ${await ask.text('city')}`);
 * const server = createServer({ name: 'trips', version: '1.0.0' });
 * serveFlows(server, [trip], { store: await createSqliteStore({ path: 'flows.db', key: process.env['FLOW_KEY'] }) });
 * ```
 */
export async function createSqliteStore(options: SqliteOptions): Promise<FlowStore> {
  return openSqliteStore(options, createLeaseHolder());
}

/** `holder` identifies this process. */
export async function openSqliteStore(options: SqliteOptions, holder: LeaseHolder): Promise<FlowStore> {
  const store = new SqliteStore(await openSqliteFile(options), options, holder);
  try {
    await store.readSalt();
    return store;
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

class SqliteStore implements FlowStore {
  readonly durable = true;
  salt = '';
  readonly #rows: Rows;
  readonly #group: WriteGroup;
  readonly #log: WalCleaner | undefined;
  readonly #clock: Clock;
  readonly #holder: LeaseHolder;
  readonly #maxTombstones: number;
  #forgotAt = 0;

  constructor(db: Database, { key, readOnly, clock, maxTombstones }: SqliteOptions, holder: LeaseHolder) {
    this.#clock = clock ?? systemClock;
    this.#holder = holder;
    this.#maxTombstones = maxTombstones ?? MAX_TOMBSTONES;
    this.#log = key === undefined && !readOnly ? createWalCleaner(db) : undefined;
    this.#rows = prepareRows(db);
    this.#group = createWriteGroup(db, { first: () => this.#forget(), log: this.#log });
  }

  async readSalt(): Promise<void> {
    this.salt = (await this.#group.read(() => this.#rows.counters()))!.salt;
  }

  create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult> {
    const own = { ...header };
    const [text, list] = [JSON.stringify(header), JSON.stringify(entries)];
    return this.#group.write(() => {
      const result = this.#makeRoom(own, limits);
      if (result !== 'ok') return result;
      const { id, share: principal = own.principal, createdAt, rev } = own;
      this.#rows.insert(id, principal, createdAt, rev, limits.dueAt ?? own.expiresAt, text);
      this.#rows.addEntries(id, rev, list);
      return 'ok';
    });
  }

  load(id: string): Promise<StoredSession | undefined> {
    return this.#group.read(() => {
      const row = this.#rows.whole(id);
      if (!row || this.#isForgotten(row)) return undefined;
      return { header: readHeaderText(row.header, id), entries: readEntriesText(`[${row.lists ?? ''}]`, id) };
    });
  }

  commit(id: string, expectRev: number, { add, ...change }: SessionChange): Promise<CommitResult> {
    const list = add?.length ? JSON.stringify(add) : undefined;
    return this.#group.write(() => {
      const row = this.#rows.session(id);
      if (!row || this.#isForgotten(row)) return { ok: false, header: undefined };
      const header = readHeaderText(row.header, id);
      const fencedOff = change.fence !== undefined && change.fence < row.fence;
      if (row.gone !== null || row.rev !== expectRev || fencedOff) return { ok: false, header };
      const next = patchHeader(header, change.patch);
      if (isEnded(next)) {
        const gone = this.#now() + (change.tombstoneMs ?? TOMBSTONE_MS);
        this.#rows.update(null, gone, JSON.stringify(next), id, expectRev);
        this.#rows.wipeEntries(id);
        this.#log?.markDirty();
      } else {
        this.#rows.update(change.dueAt ?? next.expiresAt, null, JSON.stringify(next), id, expectRev);
        if (list) this.#rows.addEntries(id, next.rev, list);
      }
      return { ok: true, rev: next.rev };
    });
  }

  lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined> {
    return this.#group.write(() => {
      const [mine, until] = [this.#holder.marked(owner), this.#now() + ms];
      const taken = this.#rows.lease(mine, until, id, this.#now());
      if (taken) return { fence: taken.fence };
      const other = this.#rows.ownerOf(id)?.owner;
      if (!other || !this.#holder.isDead(other)) return undefined;
      return { fence: this.#rows.seize(mine, until, id, other)!.fence };
    });
  }

  release(id: string, owner: string): Promise<void> {
    return this.#group.write(() => void this.#rows.release(id, this.#holder.marked(owner)));
  }

  /** First the sessions whose holder is dead. */
  due(now: number, max: number): Promise<string[]> {
    return this.#group.read(() => {
      const held = this.#rows.held(now + LOOK_AHEAD_MS, now, LOOK_MOST);
      const abandoned = held.filter(({ owner }) => this.#holder.isDead(owner));
      return [...abandoned, ...this.#rows.due(now, max)].slice(0, max).map(({ id }) => id);
    });
  }

  spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    return this.#group.write(() => this.#rows.spend(id, rev, this.#now() + ttlMs, this.#now()) === 1);
  }

  putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    return this.#group.write(() => void this.#rows.putBlob(sha256, this.#now() + ttlMs, bytes));
  }

  getBlob(sha256: string): Promise<Uint8Array | undefined> {
    return this.#group.read(() => {
      const row = this.#rows.getBlob(sha256, this.#now());
      return row && new Uint8Array(row.bytes);
    });
  }

  list(principal: string): Promise<Header[]> {
    return this.#group.read(() => readRows(this.#rows.list(principal), ({ header }) => readHeaderText(header)));
  }

  /** Other processes may write between two pages. A session that exists all the time appears once. */
  async *browse(id?: string): AsyncGenerator<ListedSession[]> {
    const seen = (page: ListedRow[]) =>
      readRows(
        page.filter((row) => !this.#isForgotten(row)),
        (row) => this.#toListed(row),
      );
    if (id !== undefined) return yield seen(await this.#group.read(() => this.#rows.one(id)));
    for (let after = ''; ;) {
      const from = after;
      const page = await this.#group.read(() => this.#rows.page(from, PAGE));
      yield seen(page);
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
    }
  }

  forgetOutcome(id: string): Promise<void> {
    return this.#group.write(() => {
      this.#rows.forgetOutcome(id);
      this.#log?.markDirty();
    });
  }

  drop(id: string): Promise<void> {
    return this.#group.write(() => this.#remove(id));
  }

  close(): Promise<void> {
    return this.#group.close();
  }

  #makeRoom(header: Header, { total, perPrincipal, perNetwork }: SessionLimits): CreateResult {
    const rows = this.#rows;
    const { id, share: principal = header.principal } = header;
    const there = rows.session(id);
    if (there && !this.#isForgotten(there)) return 'exists';
    if (rows.counters()!.open >= total || rows.openOf(principal, perPrincipal)!.n >= perPrincipal) return 'limit';
    const network = perNetwork === undefined ? undefined : networkOfShare(header);
    if (network !== undefined && rows.openBetween(network, `${network}\u{7f}`, perNetwork!)!.n >= perNetwork!) {
      return 'network';
    }
    if (there) this.#remove(id);
    return 'ok';
  }

  #remove(id: string): void {
    this.#rows.remove(id);
    this.#log?.markDirty();
  }

  #toListed({ header, due, until, owner }: ListedRow): ListedSession {
    return {
      header: readHeaderText(header),
      ...(due !== null && { dueAt: due }),
      ...(until > 0 && !(owner !== null && this.#holder.isDead(owner)) && { heldUntil: until }),
    };
  }

  /** Removes some expired data, at most once a second. */
  #forget(): void {
    const now = this.#now();
    if (now - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    for (const remove of this.#rows.removeExpired) remove(now, FORGET_MOST);
    const tooMany = this.#rows.counters()!.ended - this.#maxTombstones;
    if (tooMany > 0) this.#rows.removeOldest(tooMany);
  }

  #isForgotten({ gone }: { gone: number | null }): boolean {
    return gone !== null && gone <= this.#now();
  }

  #now(): number {
    return this.#clock.now();
  }
}
