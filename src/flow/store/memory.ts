// Sessions in the memory of this process. Nothing survives it. Everything happens in one step, so nothing can come in between.
// A session is kept as text: it is a copy of what it was made of, and idle ones are many.
import type { Entry, Header } from '../journal.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { DueIndex } from './due-index.ts';
import { patched } from './patched.ts';
import { TOMBSTONE_MS, isEnded } from './store.ts';
import type { Change, Committed, FlowStore, SessionLimits, StoredSession } from './store.ts';

interface Kept {
  /** What is neither list nor object; those stand in `nested`, as text. */
  flat: Header;
  nested: string;
  ended: boolean;
  /** Entries, with commas between them. */
  entries: string;
  lease?: { owner: string; until: number } | undefined;
  fence: number;
}

export function memoryStore(options: { clock?: Clock } = {}): FlowStore {
  return new MemoryStore(options.clock ?? systemClock);
}

class MemoryStore implements FlowStore {
  readonly durable = false;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Kept>();
  readonly #open = new Map<string, Set<string>>();
  readonly #due = new DueIndex();
  readonly #tombstones = new DueIndex();
  readonly #blobs = new Map<string, { bytes: Uint8Array; until: number }>();
  readonly #oldBlobs = new DueIndex();
  readonly #spent = new Map<string, number>();
  #openCount = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async create(header: Header, entries: Entry[], limits: SessionLimits): Promise<'ok' | 'exists' | 'limit'> {
    this.#tidy();
    const { id, principal } = header;
    if (this.#sessions.has(id)) return 'exists';
    const mine = this.#open.get(principal);
    if (this.#openCount >= limits.total || (mine?.size ?? 0) >= limits.perPrincipal) return 'limit';
    this.#sessions.set(id, { ...split(header), ended: false, entries: joined('', entries), fence: 0 });
    if (mine) mine.add(id);
    else this.#open.set(principal, new Set([id]));
    this.#openCount++;
    this.#due.set(id, limits.dueAt ?? header.expiresAt);
    return 'ok';
  }

  async load(id: string): Promise<StoredSession | undefined> {
    this.#tidy();
    const kept = this.#sessions.get(id);
    return kept && { header: headerOf(kept), entries: JSON.parse(`[${kept.entries}]`) as Entry[] };
  }

  async commit(id: string, expectRev: number, change: Change): Promise<Committed> {
    this.#tidy();
    const { patch, add = [], fence } = change;
    const kept = this.#sessions.get(id);
    if (!kept || kept.ended || kept.flat.rev !== expectRev || (fence !== undefined && fence < kept.fence)) {
      return { ok: false, header: kept && headerOf(kept) };
    }
    const header = patched(headerOf(kept), patch);
    Object.assign(kept, split(header));
    if (isEnded(header)) this.#end(id, kept, change.tombstoneMs);
    else {
      if (add.length > 0) kept.entries = joined(kept.entries, add);
      this.#due.set(id, change.dueAt ?? header.expiresAt);
    }
    return { ok: true, rev: header.rev };
  }

  async lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined> {
    const kept = this.#sessions.get(id);
    const now = this.#clock.now();
    if (!kept || kept.ended || (kept.lease && kept.lease.owner !== owner && kept.lease.until > now)) return undefined;
    kept.lease = { owner, until: now + ms };
    return { fence: ++kept.fence };
  }

  async release(id: string, owner: string): Promise<void> {
    const kept = this.#sessions.get(id);
    if (kept?.lease?.owner === owner) kept.lease = undefined;
  }

  async due(now: number, max: number): Promise<string[]> {
    return this.#due.before(now, max).filter((id) => (this.#sessions.get(id)?.lease?.until ?? 0) <= now);
  }

  async spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now();
    for (const [key, until] of this.#spent) {
      if (until > now) break;
      this.#spent.delete(key);
    }
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
    const mine = [...(this.#open.get(principal) ?? [])].map((id) => headerOf(this.#sessions.get(id) as Kept));
    return mine.sort((a, b) => a.createdAt - b.createdAt);
  }

  async drop(id: string): Promise<void> {
    const kept = this.#sessions.get(id);
    if (!kept) return;
    if (!kept.ended) this.#close(id, kept);
    this.#sessions.delete(id);
    this.#tombstones.delete(id);
  }

  async close(): Promise<void> {
    for (const map of [this.#sessions, this.#open, this.#blobs, this.#spent]) map.clear();
    this.#openCount = 0;
  }

  #end(id: string, kept: Kept, tombstoneMs = TOMBSTONE_MS): void {
    kept.ended = true;
    kept.entries = '';
    kept.lease = undefined;
    this.#close(id, kept);
    this.#tombstones.set(id, this.#clock.now() + tombstoneMs);
  }

  #close(id: string, { flat: { principal } }: Kept): void {
    this.#due.delete(id);
    const mine = this.#open.get(principal);
    mine?.delete(id);
    if (mine?.size === 0) this.#open.delete(principal);
    this.#openCount--;
  }

  /** Tombstones and blobs whose time is over. */
  #tidy(): void {
    const now = this.#clock.now();
    for (const id of this.#tombstones.before(now, 100)) {
      this.#tombstones.delete(id);
      this.#sessions.delete(id);
    }
    for (const sha256 of this.#oldBlobs.before(now, 100)) {
      this.#oldBlobs.delete(sha256);
      this.#blobs.delete(sha256);
    }
  }
}

function headerOf({ flat, nested }: Kept): Header {
  return { ...flat, ...(JSON.parse(nested) as Partial<Header>) };
}

function split(header: Header): Pick<Kept, 'flat' | 'nested'> {
  const { current, burst, pending, ...flat } = header;
  return { flat: flat as Header, nested: JSON.stringify({ current, burst, pending }) };
}

function joined(text: string, entries: Entry[]): string {
  const added = entries.map((entry) => JSON.stringify(entry)).join(',');
  return text === '' || added === '' ? text + added : `${text},${added}`;
}
