// The store of one request whose session travels in a token. Each request has its own, so that two forks of a session never meet.
// Spent turns, files and secrets go to a shared store, if there is one.
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { JournalEntry, Header } from '../journal.ts';
import type { WarmSession } from '../session/context/warm-bodies.ts';
import { MemoryBlobs } from '../store/memory/blobs.ts';
import { MemorySpentTokens } from '../store/memory/spent-tokens.ts';
import { isEnded, patchHeader } from '../header.ts';
import type { SessionChange, CommitResult, BlobStore, FlowStore, SharedStore, SpentTokens } from '../store/store.ts';

export interface RequestStoreOptions {
  shared?: SharedStore | undefined;
  clock?: Clock | undefined;
  /** Called before the session has its first effect. If it throws, the turn stops. */
  onEffect?: (() => Promise<void>) | undefined;
}

export class RequestStore implements FlowStore {
  readonly durable = false;
  readonly #clock: Clock;
  readonly #onEffect: RequestStoreOptions['onEffect'];
  #session: WarmSession | undefined;
  #lease = { owner: '', until: 0, fence: 0 };
  readonly #shared: SharedStore | undefined;
  #ownSpent: SpentTokens | undefined;
  #ownBlobs: BlobStore | undefined;

  constructor(session: WarmSession | undefined, { shared, clock = systemClock, onEffect }: RequestStoreOptions) {
    this.#session = session;
    this.#onEffect = onEffect;
    this.#shared = shared;
    this.#clock = clock;
  }

  get session(): WarmSession | undefined {
    return this.#session;
  }

  /** Does not know of other sessions, so there are no limits. */
  async create(header: Header, entries: JournalEntry[]): Promise<'ok' | 'exists'> {
    if (this.#session) return 'exists';
    this.#session = { header, entries };
    return 'ok';
  }

  async load(id: string): Promise<WarmSession | undefined> {
    return this.#session?.header.id === id ? this.#session : undefined;
  }

  async commit(id: string, expectRev: number, { patch, add = [], fence }: SessionChange): Promise<CommitResult> {
    const session = await this.load(id);
    const isOld = fence !== undefined && fence < this.#lease.fence;
    if (!session || isEnded(session.header) || session.header.rev !== expectRev || isOld) {
      return { ok: false, header: session?.header };
    }
    const header = patchHeader(session.header, patch);
    this.#session = { header, entries: isEnded(header) ? [] : [...session.entries, ...add] };
    return { ok: true, rev: header.rev };
  }

  async lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined> {
    await this.#onEffect?.();
    const session = await this.load(id);
    const now = this.#clock.now();
    const isHeld = this.#lease.owner !== owner && this.#lease.until > now;
    if (!session || isEnded(session.header) || isHeld) return undefined;
    this.#lease = { owner, until: now + ms, fence: this.#lease.fence + 1 };
    return { fence: this.#lease.fence };
  }

  async release(_id: string, owner: string): Promise<void> {
    if (this.#lease.owner === owner) this.#lease = { ...this.#lease, owner: '', until: 0 };
  }

  async due(): Promise<string[]> {
    return [];
  }

  spend(id: string, rev: number, ttlMs: number): Promise<boolean> {
    return this.#spent.spend(id, rev, ttlMs);
  }

  putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void> {
    return this.#blobs.putBlob(sha256, bytes, ttlMs);
  }

  getBlob(sha256: string): Promise<Uint8Array | undefined> {
    return this.#blobs.getBlob(sha256);
  }

  async list(): Promise<Header[]> {
    return [];
  }

  async drop(): Promise<void> {
    this.#session = undefined;
  }

  async close(): Promise<void> {}

  get #spent(): SpentTokens {
    return this.#shared ?? (this.#ownSpent ??= new MemorySpentTokens(this.#clock));
  }

  get #blobs(): BlobStore {
    return this.#shared ?? (this.#ownBlobs ??= new MemoryBlobs(this.#clock));
  }
}

/** The store of a request without a token. */
export class EmptyRequestStore extends RequestStore {
  override create(): Promise<never> {
    return this.load();
  }

  override async load(): Promise<never> {
    throw new GatewayError('STORE_FAILED', { reason: 'the request has no session' });
  }
}
