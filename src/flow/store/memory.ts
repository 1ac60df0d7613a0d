// A store in the memory of this process. Every operation is synchronous inside, so operations cannot interleave. Sessions are kept as text,
// which isolates them from their callers and is small. A limited number of ended sessions is remembered.
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { isEnded, networkOfShare } from '../header.ts';
import type { JournalEntry, Header } from '../journal.ts';
import { SessionPacker } from './session-packer.ts';
import type { PackedSession } from './session-packer.ts';
import { TOMBSTONE_MS } from './store.ts';
import type {
  SessionChange,
  CommitResult,
  CreateResult,
  FlowStore,
  ListedSession,
  SessionLimits,
  StoredSession,
} from './store.ts';

interface Lease {
  owner: string | undefined;
  until: number;
  fence: number;
}

const MAX_TOMBSTONES = 10_000;
const PAGE = 200;
/** From this number of spent turns on, all of them are checked for expiry now and then. */
const SPENT = 1000;
/** Total characters of outcomes. */
const MAX_OUTCOMES = 64 * 1024 * 1024;

export function memoryStore(options: { clock?: Clock } = {}): FlowStore {
  return new MemoryStore(options.clock ?? systemClock);
}

class MemoryStore implements FlowStore {
  readonly durable = false;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, PackedSession>();
  readonly #leases = new Map<string, Lease>();
  readonly #packing = new SessionPacker();
  readonly #open = new Map<string, Set<string>>();
  /** How many of them each network has. */
  readonly #networks = new Map<string, number>();
  readonly #due = new DueIndex();
  readonly #tombstones = new DueIndex();
  readonly #blobs = new Map<string, { bytes: Uint8Array; until: number }>();
  readonly #oldBlobs = new DueIndex();
  readonly #spent = new Map<string, number>();
  #spentMost = SPENT;
  /** Sizes of unacknowledged outcomes, oldest first. */
  readonly #outcomes = new Map<string, number>();
  #outcomeSize = 0;
  #openCount = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult> {
    this.#tidy();
    const { id, share = header.principal } = header;
    if (this.#sessions.has(id)) return 'exists';
    const mine = this.#open.get(share);
    if (this.#openCount >= limits.total || (mine?.size ?? 0) >= limits.perPrincipal) return 'limit';
    const network = networkOfShare(header);
    if (network !== undefined) {
      const count = this.#networks.get(network) ?? 0;
      if (count >= (limits.perNetwork ?? Infinity)) return 'network';
      this.#networks.set(network, count + 1);
    }
    this.#sessions.set(id, this.#packing.pack(header, entries));
    if (mine) mine.add(id);
    else this.#open.set(share, new Set([id]));
    this.#openCount++;
    this.#due.set(id, limits.dueAt ?? header.expiresAt);
    return 'ok';
  }

  async load(id: string): Promise<StoredSession | undefined> {
    this.#tidy();
    const kept = this.#sessions.get(id);
    return kept && { header: this.#packing.headerOf(id, kept), entries: this.#packing.entriesOf(kept) };
  }

  async commit(id: string, expectRev: number, change: SessionChange): Promise<CommitResult> {
    this.#tidy();
    const { patch, add = [], fence } = change;
    const kept = this.#sessions.get(id);
    const isOld = fence !== undefined && fence < (this.#leases.get(id)?.fence ?? 0);
    if (kept?.entries === undefined || kept.rev !== expectRev || isOld) {
      return { ok: false, header: kept && this.#packing.headerOf(id, kept) };
    }
    const header = this.#packing.patch(id, kept, patch);
    if (isEnded(header)) this.#end(id, kept, header.outcome, change.tombstoneMs);
    else {
      if (add.length > 0) this.#packing.add(kept, add);
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

  async spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const isFull = this.#spent.size >= this.#spentMost; // one that is kept for days must not block those behind it
    for (const [key, until] of this.#spent) {
      if (until <= now) this.#spent.delete(key);
      else if (!isFull) break;
    }
    if (isFull) this.#spentMost = Math.max(SPENT, 2 * this.#spent.size);
    const key = `${rev} ${id}`;
    if ((this.#spent.get(key) ?? 0) > now) return false;
    this.#spent.set(key, now + ttlMs);
    return true;
  }

  async putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    const until = Math.max(this.#clock.now() + ttlMs, this.#blobs.get(sha256)?.until ?? 0);
    this.#blobs.set(sha256, { bytes: Uint8Array.from(bytes), until });
    this.#oldBlobs.set(sha256, until);
  }

  async getBlob(sha256: string): Promise<Uint8Array | undefined> {
    const blob = this.#blobs.get(sha256);
    return blob && blob.until > this.#clock.now() ? Uint8Array.from(blob.bytes) : undefined;
  }

  async list(principal: string): Promise<Header[]> {
    const mine = [...(this.#open.get(principal) ?? [])].map((id) =>
      this.#packing.headerOf(id, this.#sessions.get(id) as PackedSession),
    );
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
    this.#packing.remove(kept, 'outcome');
  }

  async drop(id: string): Promise<void> {
    const kept = this.#sessions.get(id);
    if (!kept) return;
    if (kept.entries !== undefined) this.#close(id, kept);
    this.#bury([id]);
  }

  async close(): Promise<void> {
    const maps = [this.#sessions, this.#leases, this.#open, this.#networks, this.#blobs, this.#spent, this.#outcomes];
    for (const map of [...maps, this.#due, this.#tombstones, this.#oldBlobs, this.#packing]) map.clear();
    this.#openCount = 0;
    this.#outcomeSize = 0;
  }

  #listed(id: string): ListedSession[] {
    const kept = this.#sessions.get(id);
    if (!kept) return [];
    const [dueAt, heldUntil] = [this.#due.at(id), this.#leases.get(id)?.until];
    const header = this.#packing.headerOf(id, kept);
    return [{ header, ...(dueAt !== undefined && { dueAt }), ...(heldUntil && { heldUntil }) }];
  }

  #end(id: string, kept: PackedSession, outcome: string | undefined, tombstoneMs = TOMBSTONE_MS): void {
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

  #close(id: string, kept: PackedSession): void {
    const { share = kept.principal } = kept;
    this.#due.delete(id);
    this.#leases.delete(id);
    const mine = this.#open.get(share);
    mine?.delete(id);
    if (mine?.size === 0) this.#open.delete(share);
    this.#openCount--;
    const network = networkOfShare(kept);
    if (network === undefined) return;
    const left = (this.#networks.get(network) ?? 1) - 1;
    if (left > 0) this.#networks.set(network, left);
    else this.#networks.delete(network);
  }

  /** Removes expired tombstones and blobs. */
  #tidy(): void {
    const now = this.#clock.now();
    this.#bury(this.#tombstones.before(now, 100));
    for (const sha256 of this.#oldBlobs.before(now, 100)) {
      this.#oldBlobs.delete(sha256);
      this.#blobs.delete(sha256);
    }
  }

  #bury(ids: readonly string[]): void {
    for (const id of ids) {
      this.#tombstones.delete(id);
      const kept = this.#sessions.get(id);
      if (kept) this.#packing.forget(kept);
      this.#sessions.delete(id);
      this.#forgotten(id);
    }
  }
}

interface Moment {
  readonly id: string;
  at: number;
  /** Its position in the heap: never later than `at`. */
  placed: number;
  /** Orders equal times, since a heap is not stable. */
  order: number;
}

const NONE: string[] = [];

/**
 * The due times of many sessions, in a heap. A time that moves later, as most do with every answer, stays in place until it reaches the top,
 * and is then moved. A time that moves earlier is added again, and the old one is skipped.
 */
export class DueIndex {
  readonly #moments = new Map<string, Moment>();
  #heap: Moment[] = [];
  #placed = 0;

  get size(): number {
    return this.#moments.size;
  }

  /** A lower bound of the first due time; undefined if empty. */
  get next(): number | undefined {
    return this.#moments.size === 0 ? undefined : this.#heap[0]?.placed;
  }

  at(id: string): number | undefined {
    return this.#moments.get(id)?.at;
  }

  set(id: string, at: number): void {
    const known = this.#moments.get(id);
    if (known && at >= known.placed) {
      known.at = at;
      return;
    }
    const moment = { id, at, placed: at, order: this.#placed++ };
    this.#moments.set(id, moment);
    // Too many outdated items.
    if (this.#heap.length > 64 && this.#heap.length > 2 * this.#moments.size) this.#rebuild();
    else this.#push(moment);
  }

  delete(id: string): void {
    this.#moments.delete(id);
  }

  /** The ids that are due, soonest first. They stay until they are set again or deleted. */
  before(now: number, max: number): readonly string[] {
    const due: Moment[] = [];
    for (let first = this.#heap[0]; first && first.placed <= now && due.length < max; first = this.#heap[0]) {
      this.#pop();
      if (this.#moments.get(first.id) !== first) continue;
      if (first.at === first.placed) due.push(first);
      else this.#place(first);
    }
    if (due.length === 0) return NONE;
    for (const one of due) this.#push(one);
    return due.map(({ id }) => id);
  }

  clear(): void {
    this.#moments.clear();
    this.#heap = [];
  }

  #rebuild(): void {
    this.#heap = [];
    for (const moment of this.#moments.values()) this.#place(moment);
  }

  #place(moment: Moment): void {
    if (moment.placed !== moment.at) {
      moment.placed = moment.at;
      moment.order = this.#placed++;
    }
    this.#push(moment);
  }

  #push(one: Moment): void {
    const heap = this.#heap;
    let at = heap.length;
    for (; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!isBefore(one, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = one;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Moment, b: Moment): boolean {
  return a.placed < b.placed || (a.placed === b.placed && a.order < b.order);
}
