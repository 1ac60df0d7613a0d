// A store in the memory of this process. Every operation is synchronous inside, so operations cannot interleave. Sessions are kept as JSON texts,
// which isolates them from their callers. A limited number of ended sessions is remembered.
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { isEnded, patchHeader } from '../../header.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { TOMBSTONE_MS } from '../store.ts';
import type {
  BlobStore,
  SessionChange,
  CommitResult,
  CreateResult,
  FlowStore,
  ListedSession,
  SessionLimits,
  SpentTokens,
  StoredSession,
} from '../store.ts';
import { MemoryBlobs } from './blobs.ts';
import { DueIndex } from './due-index.ts';
import { SessionCounts } from './session-counts.ts';
import { MemorySpentTokens } from './spent-tokens.ts';

interface KeptSession {
  rev: number;
  readonly principal: string;
  readonly share: string | undefined;
  /** Without `current`, which most commits replace. */
  header: string;
  current: string;
  /** Entries joined by commas; undefined once the session has ended. */
  entries: string | undefined;
}

interface Lease {
  owner: string | undefined;
  until: number;
  fence: number;
}

const MAX_TOMBSTONES = 10_000;
const PAGE = 200;
/** Removed per call, so that none takes long. */
const FORGET_MOST = 100;
/** Total characters of outcomes. */
const MAX_OUTCOMES = 64 * 1024 * 1024;

export function memoryStore(options: { clock?: Clock } = {}): FlowStore {
  return new MemoryStore(options.clock ?? systemClock);
}

class MemoryStore implements FlowStore {
  readonly durable = false;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, KeptSession>();
  readonly #leases = new Map<string, Lease>();
  readonly #open = new SessionCounts();
  readonly #due = new DueIndex();
  readonly #tombstones = new DueIndex();
  /** Sizes of unacknowledged outcomes, oldest first. */
  readonly #outcomes = new Map<string, number>();
  readonly #blobs: MemoryBlobs;
  readonly #spent: MemorySpentTokens;
  #outcomeSize = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#blobs = new MemoryBlobs(clock);
    this.#spent = new MemorySpentTokens(clock);
  }

  async create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult> {
    this.#tidy();
    const { id, rev, principal, share } = header;
    if (this.#sessions.has(id)) return 'exists';
    const added = this.#open.add(id, header, limits);
    if (added !== 'ok') return added;
    this.#sessions.set(id, { rev, principal, share, ...toTexts(header), entries: toEntriesText(entries) });
    this.#due.set(id, limits.dueAt ?? header.expiresAt);
    return 'ok';
  }

  async load(id: string): Promise<StoredSession | undefined> {
    this.#tidy();
    const kept = this.#sessions.get(id);
    return kept && { header: toHeader(kept), entries: JSON.parse(`[${kept.entries ?? ''}]`) as JournalEntry[] };
  }

  async commit(id: string, expectRev: number, change: SessionChange): Promise<CommitResult> {
    this.#tidy();
    const { patch, add = [], fence } = change;
    const kept = this.#sessions.get(id);
    const isOld = fence !== undefined && fence < (this.#leases.get(id)?.fence ?? 0);
    if (kept?.entries === undefined || kept.rev !== expectRev || isOld) {
      return { ok: false, header: kept && toHeader(kept) };
    }
    const header = patchHeader(JSON.parse(kept.header) as Header, patch);
    kept.rev = header.rev;
    kept.header = toHeaderText(header);
    if (header.current) kept.current = JSON.stringify(header.current);
    if (isEnded(header)) this.#end(id, kept, header.outcome, change.tombstoneMs);
    else {
      // `join` makes a flat string; `+` would keep a chain of all parts.
      if (add.length > 0) kept.entries = [kept.entries, toEntriesText(add)].filter(Boolean).join(',');
      this.#due.set(id, change.dueAt ?? header.expiresAt);
    }
    return { ok: true, rev: header.rev };
  }

  async lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined> {
    const now = this.#clock.now();
    const held = this.#leases.get(id);
    if (this.#sessions.get(id)?.entries === undefined || (held?.owner !== owner && (held?.until ?? 0) > now)) {
      return undefined;
    }
    const fence = (held?.fence ?? 0) + 1;
    this.#leases.set(id, { owner, until: now + ms, fence });
    return { fence };
  }

  async release(id: string, owner: string): Promise<void> {
    const held = this.#leases.get(id);
    if (held?.owner === owner) this.#leases.set(id, { owner: undefined, until: 0, fence: held.fence });
  }

  nextDue(): number | undefined {
    return this.#due.next;
  }

  async due(now: number, max: number): Promise<string[]> {
    return this.#due.before(now, max).filter((id) => (this.#leases.get(id)?.until ?? 0) <= now);
  }

  spend(...turn: Parameters<SpentTokens['spend']>): Promise<boolean> {
    return this.#spent.spend(...turn);
  }

  putBlob(...blob: Parameters<BlobStore['putBlob']>): Promise<void> {
    return this.#blobs.putBlob(...blob);
  }

  getBlob(sha256: string): Promise<Uint8Array | undefined> {
    return this.#blobs.getBlob(sha256);
  }

  async list(principal: string): Promise<Header[]> {
    const mine = [...this.#open.of(principal)].map((id) => toHeader(this.#sessions.get(id)!));
    return mine.sort((a, b) => a.createdAt - b.createdAt);
  }

  async *browse(id?: string): AsyncGenerator<ListedSession[]> {
    this.#tidy();
    const ids = id === undefined ? [...this.#sessions.keys()] : [id];
    for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE).flatMap((one) => this.#listed(one));
  }

  async forgetOutcome(id: string): Promise<void> {
    const kept = this.#sessions.get(id);
    if (!kept || !this.#outcomes.has(id)) return;
    this.#forgotten(id);
    kept.header = toHeaderText({ ...(JSON.parse(kept.header) as Header), outcome: undefined });
  }

  async drop(id: string): Promise<void> {
    const kept = this.#sessions.get(id);
    if (!kept) return;
    if (kept.entries !== undefined) this.#close(id, kept);
    this.#bury([id]);
  }

  async close(): Promise<void> {
    const parts = [this.#sessions, this.#leases, this.#open, this.#due, this.#tombstones, this.#outcomes];
    for (const part of [...parts, this.#blobs, this.#spent]) part.clear();
    this.#outcomeSize = 0;
  }

  #listed(id: string): ListedSession[] {
    const kept = this.#sessions.get(id);
    if (!kept) return [];
    const [dueAt, heldUntil] = [this.#due.at(id), this.#leases.get(id)?.until];
    return [{ header: toHeader(kept), ...(dueAt !== undefined && { dueAt }), ...(heldUntil && { heldUntil }) }];
  }

  #end(id: string, kept: KeptSession, outcome: string | undefined, tombstoneMs = TOMBSTONE_MS): void {
    kept.entries = undefined;
    this.#close(id, kept);
    this.#tombstones.set(id, this.#clock.now() + tombstoneMs);
    if (outcome !== undefined) this.#keep(id, outcome);
    if (this.#tombstones.size > MAX_TOMBSTONES) this.#bury(this.#tombstones.before(Infinity, 1));
  }

  /** Drops the oldest outcomes beyond the limit. */
  #keep(id: string, outcome: string): void {
    this.#outcomes.set(id, outcome.length);
    this.#outcomeSize += outcome.length;
    for (const oldest of this.#outcomes.keys()) {
      if (this.#outcomeSize <= MAX_OUTCOMES) break;
      void this.forgetOutcome(oldest);
    }
  }

  #forgotten(id: string): void {
    this.#outcomeSize -= this.#outcomes.get(id) ?? 0;
    this.#outcomes.delete(id);
  }

  #close(id: string, kept: KeptSession): void {
    this.#due.delete(id);
    this.#leases.delete(id);
    this.#open.delete(id, kept);
  }

  /** Removes expired tombstones and blobs. */
  #tidy(): void {
    this.#bury(this.#tombstones.before(this.#clock.now(), FORGET_MOST));
    this.#blobs.tidy();
  }

  #bury(ids: readonly string[]): void {
    for (const id of ids) {
      this.#tombstones.delete(id);
      this.#sessions.delete(id);
      this.#forgotten(id);
    }
  }
}

function toTexts(header: Header): Pick<KeptSession, 'header' | 'current'> {
  return { header: toHeaderText(header), current: JSON.stringify(header.current) };
}

function toHeaderText({ current: _, ...rest }: Header): string {
  return JSON.stringify(rest);
}

function toHeader({ header, current }: KeptSession): Header {
  return { ...(JSON.parse(header) as Header), current: JSON.parse(current) as unknown[] };
}

function toEntriesText(entries: readonly JournalEntry[]): string {
  return JSON.stringify(entries).slice(1, -1);
}
