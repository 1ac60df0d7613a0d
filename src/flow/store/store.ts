// What is asked of a store, in four parts: sessions, leases, blobs and spent tokens. Every store guarantees:
// 1. An acknowledged commit is durable, as far as the store promises. A commit is all or nothing.
// 2. Of two commits with the same `expectRev` exactly one succeeds. The other changes nothing and gets the current header.
// 3. A lease has one owner at a time. A commit with an older fence is rejected.
// 4. `create` checks the limits atomically.
// 5. An ended session never changes again. Only its outcome, or all of it, can be removed.
// 6. Sessions are counted and listed by `share` of their header where it has one, else by `principal`. Those whose shares begin with the same
//    text up to a slash are also counted together (`perNetwork`).
// 7. Reads are consistent: header, questions and entries are of the same commit.
// The contract tests (`*.contract.ts`) check all of it on each store.
import type { JournalEntry, Header } from '../journal.ts';

export interface StoredSession {
  header: Header;
  entries: JournalEntry[];
}

/** A session as an operator sees it. */
export interface ListedSession {
  header: Header;
  /** When it is due next; undefined once it has ended. */
  dueAt?: number | undefined;
  /** When the lease of the process that holds it expires; may be in the past. */
  heldUntil?: number | undefined;
}

/** What a wake-up says; the store has the truth. */
export interface ChangedSession {
  id: string;
  /** When it is due next, if that was said. */
  dueAt?: number | undefined;
}

/** `network`: the limit of the network was reached; `limit`: one of the others. */
export type CreateResult = 'ok' | 'exists' | 'limit' | 'network';

export type CommitResult = { ok: true; rev: number } | { ok: false; header: Header | undefined };

export interface SessionLimits {
  /** Open sessions of one principal or share, and in total. */
  perPrincipal: number;
  /** Of all shares with the same network (`networkOfShare`); no limit if undefined. */
  perNetwork?: number | undefined;
  total: number;
  /** When the new session is due first; default: when it expires. */
  dueAt?: number | undefined;
}

/** Sessions with their journals. */
export interface SessionStore {
  /** Sessions outlive this process. */
  readonly durable: boolean;
  /** A random text that stays the same for this store, in all processes: part of the hashes of principals. */
  readonly salt?: string | undefined;
  /** The session is due at `dueAt`, or when it expires, until a commit changes that. */
  create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<CreateResult>;
  load(id: string): Promise<StoredSession | undefined>;
  /**
   * Applies the patch and appends the entries if the session is still at `expectRev`. A final state deletes the entries and `current`, and
   * keeps the header for `tombstoneMs`. Id, principal, `createdAt` and `rev` cannot be patched; an undefined value removes the member.
   */
  commit(id: string, expectRev: number, change: SessionChange): Promise<CommitResult>;
  /** Sessions that are due and not held, soonest first. */
  due(now: number, max: number): Promise<string[]>;
  /** A lower bound of the next due time. Absent if other processes write too: such a store is polled. */
  nextDue?(): number | undefined;
  /** Open sessions of one principal or share, oldest first. Not a snapshot: each is read on its own. */
  list(principal: string): Promise<Header[]>;
  /** All open and remembered sessions, in pages and in any order; with `id`, only that one. Absent: sessions are found only by their id. */
  browse?(id?: string): AsyncIterable<ListedSession[]>;
  /** Calls back when another process has changed a session. Only a wake-up: calls may be missing or needless. Absent: such a store is only polled. */
  onChange?(listener: (changed: ChangedSession) => void): () => void;
  /** Removes `outcome` from the header of an ended session. Absent: it stays as long as the header. */
  forgetOutcome?(id: string): Promise<void>;
  drop(id: string): Promise<void>;
}

/** Who runs a session. Its fence is checked by the commits of the same store. */
export interface LeaseStore {
  /** Undefined while another owner holds it. The same owner gets it again, with a new fence. */
  lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined>;
  release(id: string, owner: string): Promise<void>;
}

/** Bytes under the hash of their content, or of a name: files, secrets, and what does not fit into a token. */
export interface BlobStore {
  /** Kept for the longest requested time. */
  putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void>;
  getBlob(sha256: string): Promise<Uint8Array | undefined>;
}

/** Tokens, links and effects that may be used once. */
export interface SpentTokens {
  /** True for the first call with this id and rev. */
  spend(id: string, rev: number, ttlMs: number): Promise<boolean>;
}

/** What sessions in tokens need besides their tokens. */
export type SharedStore = BlobStore & SpentTokens;

/** A whole store. Code that needs only a part of it asks for that part. */
export interface FlowStore extends SessionStore, LeaseStore, BlobStore, SpentTokens {
  close(): Promise<void>;
}

export interface SessionChange {
  patch: Partial<Header>;
  /** Entries to append. */
  add?: JournalEntry[] | undefined;
  fence?: number | undefined;
  /** When the session is due next; default: when it expires. */
  dueAt?: number | undefined;
  /** Default: `TOMBSTONE_MS`. */
  tombstoneMs?: number | undefined;
}

/** How long an ended session is remembered by default. */
export const TOMBSTONE_MS = 300_000;
