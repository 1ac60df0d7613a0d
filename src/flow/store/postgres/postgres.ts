// A store in Postgres, shared by processes on any number of machines. Every operation is one statement, which is repeated after a broken connection
// without harm. Leases use the server's time.
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createCounter } from '../../../kernel/crypto/ids.ts';
import { isEnded, networkOfShare } from '../../header.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { readEntriesText, readRows } from '../read-row.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { TOMBSTONE_MS } from '../store.ts';
import type {
  ChangedSession,
  CommitResult,
  CreateResult,
  FlowStore,
  ListedSession,
  SessionChange,
  SessionLimits,
  StoredSession,
} from '../store.ts';
import { createPostgresCipher } from './postgres-cipher.ts';
import type { PostgresCipher } from './postgres-cipher.ts';
import { connectPostgres } from './postgres-connection.ts';
import type { PostgresConnection, PostgresPlace } from './postgres-connection.ts';
import { createRowTexts, fromRowKey, toRowKey, toStatements } from './postgres-rows.ts';
import type { FoundRow, BrowsedRow, RowTexts, SessionRow, WholeRow } from './postgres-rows.ts';
import { prepareTables, toSchemaName } from './postgres-tables.ts';
import { PostgresWakeups } from './postgres-wakeups.ts';

export interface PostgresStoreOptions extends PostgresPlace {
  /** Where the tables are; stores with different schemas share nothing. Default: `parley_flow`. */
  schema?: string | undefined;
  /** Encrypts what sessions hold. Of several keys the first one seals, and all of them open. */
  key?: string | readonly string[] | undefined;
  /** How many ended sessions are remembered; the oldest are removed first. */
  maxTombstones?: number | undefined;
}

const SCHEMA = 'parley_flow';
const MAX_TOMBSTONES = 10_000;
const PAGE = 200;
/** How often each process removes what has expired, and how much at once. */
const FORGET_EVERY_MS = 1000;
const FORGET_MOST = 500;

/**
 * Keeps sessions in Postgres, for servers on several machines.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 * import { createPostgresStore, flow, serveFlows } from 'mcp-parley/flow';
 *
 * const trip = flow({ name: 'trip' }, async (ask) => `Booked: ${await ask.text('city')}`);
 * const server = createServer({ name: 'trips', version: '1.0.0' });
 * serveFlows(server, [trip], { store: await createPostgresStore({ url: 'postgres://localhost/flows' }) });
 * ```
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<FlowStore> {
  const { schema = SCHEMA, key, readOnly = false } = options;
  toSchemaName(schema);
  const cipher = key === undefined ? undefined : createPostgresCipher(typeof key === 'string' ? [key] : key);
  const connection = await connectPostgres(options);
  try {
    const salt = await prepareTables({ connection, schema, cipher, readOnly });
    return new PostgresStore({ connection, schema, cipher, salt, maxTombstones: options.maxTombstones });
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
}

interface Parts {
  connection: PostgresConnection;
  schema: string;
  cipher: PostgresCipher | undefined;
  salt: string;
  maxTombstones: number | undefined;
}

class PostgresStore implements FlowStore {
  readonly durable = true;
  readonly salt: string;
  readonly #connection: PostgresConnection;
  readonly #cipher: PostgresCipher | undefined;
  readonly #texts: RowTexts;
  readonly #sql: ReturnType<typeof toStatements>;
  readonly #wakeups: PostgresWakeups;
  readonly #maxTombstones: number;
  readonly #mark = createCounter(`${randomBytes(9).toString('base64url')}.`);
  /** Infinity: it is closed. */
  #forgotAt = systemClock.now();

  constructor({ connection, schema, cipher, salt, maxTombstones = MAX_TOMBSTONES }: Parts) {
    this.#connection = connection;
    this.#cipher = cipher;
    this.#texts = createRowTexts(cipher);
    this.#sql = toStatements(toSchemaName(schema));
    this.#wakeups = new PostgresWakeups(connection, schema);
    this.#maxTombstones = maxTombstones;
    this.salt = salt;
  }

  async create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult> {
    const { id, share: principal = header.principal, createdAt, rev } = header;
    const { total, perPrincipal, perNetwork, dueAt = header.expiresAt } = limits;
    const network = perNetwork === undefined ? undefined : networkOfShare(header);
    const list = this.#texts.toList(id, rev, JSON.stringify(entries));
    const fields = JSON.stringify(this.#texts.toFields(id, header).set);
    const whose = [toRowKey(principal), network === undefined ? null : toRowKey(network)];
    const room = [total, perPrincipal, network === undefined ? null : perNetwork!];
    const values = [toRowKey(id), this.#mark(), ...whose, createdAt, rev, dueAt, fields, list, ...room];
    const [row] = await this.#connection.run<{ result: CreateResult }>(this.#sql.create, values);
    this.#changed(id, dueAt);
    return row!.result;
  }

  async load(id: string): Promise<StoredSession | undefined> {
    const [row] = await this.#connection.run<WholeRow>(this.#sql.load, [toRowKey(id)]);
    if (!row) return undefined;
    const lists = (row.lists ?? []).map(([rev, list]) => this.#texts.fromList(id, rev, list));
    return { header: this.#texts.toHeader(row), entries: readEntriesText(`[${lists.join(',')}]`, id) };
  }

  async commit(id: string, expectRev: number, change: SessionChange): Promise<CommitResult> {
    const mark = this.#mark();
    const values = [toRowKey(id), expectRev, ...this.#toCommit({ id, expectRev, mark }, change)];
    const [done] = await this.#connection.run<{ rev: number }>(this.#sql.commit, values);
    if (done) {
      this.#changed(id, change.dueAt);
      return { ok: true, rev: done.rev };
    }
    const [found] = await this.#connection.run<FoundRow>(this.#sql.find, [toRowKey(id)]);
    if (found?.mark === mark) return { ok: true, rev: found.rev };
    return { ok: false, header: found && !found.forgotten ? this.#texts.toHeader(found) : undefined };
  }

  async lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined> {
    const [taken] = await this.#connection.run<{ fence: number }>(this.#sql.lease, [toRowKey(id), toRowKey(owner), ms]);
    return taken && { fence: taken.fence };
  }

  async release(id: string, owner: string): Promise<void> {
    await this.#connection.run(this.#sql.release, [toRowKey(id), toRowKey(owner)]);
  }

  async due(now: number, max: number): Promise<string[]> {
    const rows = await this.#connection.run<{ id: string }>(this.#sql.due, [now, max]);
    return rows.map(({ id }) => fromRowKey(id));
  }

  async spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    const spent = await this.#connection.run(this.#sql.spend, [toRowKey(id), rev, ttlMs, this.#mark()]);
    this.#forgetSome();
    return spent.length === 1;
  }

  async putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    const kept = this.#cipher ? this.#cipher.sealBytes(sha256, bytes) : Buffer.from(bytes);
    await this.#connection.run(this.#sql.putBlob, [toRowKey(sha256), ttlMs, kept]);
    this.#forgetSome();
  }

  async getBlob(sha256: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#connection.run<{ bytes: Uint8Array }>(this.#sql.getBlob, [toRowKey(sha256)]);
    if (!row || !this.#cipher) return row?.bytes;
    const bytes = this.#cipher.openBytes(sha256, row.bytes);
    if (!bytes) throw new GatewayError('STORE_FAILED', { reason: `the blob ${sha256.slice(0, 12)} is damaged` });
    return bytes;
  }

  async list(principal: string): Promise<Header[]> {
    const rows = await this.#connection.run<SessionRow>(this.#sql.list, [toRowKey(principal)]);
    return readRows(rows, (row) => this.#texts.toHeader(row));
  }

  /** Other processes may write between two pages. A session that exists all the time appears once. */
  async *browse(id?: string): AsyncGenerator<ListedSession[]> {
    const seen = (page: BrowsedRow[]) => readRows(page, (row) => this.#toListed(row));
    if (id !== undefined) return yield seen(await this.#connection.run<BrowsedRow>(this.#sql.one, [toRowKey(id)]));
    for (let after = ''; ;) {
      const page = await this.#connection.run<BrowsedRow>(this.#sql.page, [after, PAGE]);
      yield seen(page);
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
    }
  }

  onChange(listener: (changed: ChangedSession) => void): () => void {
    return this.#wakeups.on(listener);
  }

  async forgetOutcome(id: string): Promise<void> {
    await this.#connection.run(this.#sql.forgetOutcome, [toRowKey(id)]);
  }

  async drop(id: string): Promise<void> {
    await this.#connection.run(this.#sql.drop, [toRowKey(id)]);
  }

  close(): Promise<void> {
    this.#forgotAt = Infinity;
    this.#wakeups.close();
    return this.#connection.close();
  }

  /** The values of `commit` after id and rev. */
  #toCommit(
    { id, expectRev, mark }: { id: string; expectRev: number; mark: string },
    { patch, add, fence, dueAt, tombstoneMs }: SessionChange,
  ): unknown[] {
    const { id: _id, principal: _principal, createdAt: _created, rev: _rev, ...rest } = patch;
    const ends = patch.state !== undefined && isEnded({ state: patch.state });
    const part = ends ? { ...rest, current: [], pending: undefined, waits: undefined, busy: undefined } : rest;
    const { set, remove } = this.#texts.toFields(id, part);
    const list = add?.length ? this.#texts.toList(id, expectRev + 1, JSON.stringify(add)) : null;
    const tombstone = ends ? (tombstoneMs ?? TOMBSTONE_MS) : null;
    return [fence ?? null, JSON.stringify(set), remove, mark, dueAt ?? null, list, tombstone];
  }

  #toListed(row: BrowsedRow): ListedSession {
    return {
      header: this.#texts.toHeader(row),
      ...(row.due !== null && { dueAt: row.due }),
      ...(row.until > 0 && { heldUntil: row.until }),
    };
  }

  #changed(id: string, dueAt: number | undefined): void {
    this.#wakeups.changed(id, dueAt);
    this.#forgetSome();
  }

  /** Removes some expired data beside the other work, at most once a second. */
  #forgetSome(): void {
    const now = systemClock.now();
    if (now - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    void this.#forget().catch((error: unknown) => createLog().warn({ error }, 'flow.not-forgotten'));
  }

  async #forget(): Promise<void> {
    const { forget, removeOldest } = this.#sql;
    const expired = forget.map((sql) => ({ sql, values: [FORGET_MOST] }));
    for (const { sql, values } of [...expired, { sql: removeOldest, values: [this.#maxTombstones, FORGET_MOST] }]) {
      if (this.#forgotAt !== Infinity) await this.#connection.run(sql, values);
    }
  }
}
