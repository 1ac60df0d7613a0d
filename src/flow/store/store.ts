// Where sessions of flows are kept. What every store must keep:
// 1. What `commit` has acknowledged survives whatever the store promises to survive; half a commit never does.
// 2. Of two commits with the same `expectRev` exactly one wins; the other is told what is there now and has changed nothing.
// 3. A lease is held by one owner at a time; a commit with an older fence than the newest is refused.
// 4. Limits are checked in the same step that makes the session: two at once cannot both be the last.
// 5. A session that has ended is never changed again, by commit or lease; it can only be forgotten, or how it ended.
// 6. What is read of a session is what it was at one moment: header, questions and entries are of the same commit.
// store.contract.ts and its neighbours try all of it on each store.
import type { JournalEntry, Header } from '../journal.ts';

export interface StoredSession {
  header: Header;
  entries: JournalEntry[];
}

/** A session as somebody sees it who looks after a store. */
export interface ListedSession {
  header: Header;
  /** When it wants to be looked at next; undefined once it has ended. */
  dueAt?: number | undefined;
  /** Until when a process holds it, if nothing keeps that process from letting it go earlier; may be past. */
  heldUntil?: number | undefined;
}

export type CommitResult = { ok: true; rev: number } | { ok: false; header: Header | undefined };

export interface SessionLimits {
  /** Sessions that have not ended, of one principal and in all. */
  perPrincipal: number;
  total: number;
  /** When the new session wants to be looked at first; default: when it expires. */
  dueAt?: number | undefined;
}

export interface FlowStore {
  /** Sessions outlive this process. */
  readonly durable: boolean;
  /** It is due at `dueAt`, else when it expires, until a commit says otherwise. */
  create(header: Header, entries: JournalEntry[], limits: SessionLimits): Promise<'ok' | 'exists' | 'limit'>;
  load(id: string): Promise<StoredSession | undefined>;
  /**
   * Applies the patch and adds the entries if the session is still at `expectRev`. A state that is an end drops the entries and
   * `current` and keeps the header for `tombstoneMs`: what was said in the session is gone, that it was there and how it ended is not.
   * Id, principal, `createdAt` and `rev` cannot be patched; a value that is undefined goes away.
   */
  commit(id: string, expectRev: number, change: SessionChange): Promise<CommitResult>;
  /** Undefined while somebody else holds it. The same owner gets it again, with a new fence. */
  lease(id: string, owner: string, ms: number): Promise<{ fence: number } | undefined>;
  release(id: string, owner: string): Promise<void>;
  /**
   * Sessions that want to be looked at: a warning, an expiry, a `processing` whose lease ran out. Soonest first, without those
   * that somebody holds.
   */
  due(now: number, max: number): Promise<string[]>;
  /** Not later than the moment at which the next one is due. Absent where others write as well: such a store is looked at now and then. */
  nextDue?(): number | undefined;
  /** True for the first who spends this turn of a token; false for everybody after. */
  spend(id: string, rev: number, ttlMs: number): Promise<boolean>;
  /** Kept for the longest time that was asked for. */
  putBlob(sha256: string, bytes: Uint8Array, ttlMs: number): Promise<void>;
  getBlob(sha256: string): Promise<Uint8Array | undefined>;
  /** Sessions of one principal that have not ended, oldest first; each as it was when it was read, which need not be at once. */
  list(principal: string): Promise<Header[]>;
  /**
   * All sessions, also those that have ended and are remembered, some at a time and in any order; with `id`, that one alone. Changes
   * nothing. Absent: only who knows the id of a session can find it.
   */
  browse?(id?: string): AsyncIterable<ListedSession[]>;
  /** Takes `outcome` out of the header of a session that has ended. Absent: it stays as long as the header. */
  forgetOutcome?(id: string): Promise<void>;
  drop(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface SessionChange {
  patch: Partial<Header>;
  /** Entries that come after those that are there; default: none. */
  add?: JournalEntry[] | undefined;
  fence?: number | undefined;
  /** When the session wants to be looked at next; default: when it expires. */
  dueAt?: number | undefined;
  /** Default `TOMBSTONE_MS`. */
  tombstoneMs?: number | undefined;
}

/** How long it is known that a session was there, unless a commit says otherwise. */
export const TOMBSTONE_MS = 300_000;

const ENDS: ReadonlySet<string> = new Set(['completed', 'cancelled', 'error']);

export function isEnded({ state }: Pick<Header, 'state'>): boolean {
  return ENDS.has(state);
}
