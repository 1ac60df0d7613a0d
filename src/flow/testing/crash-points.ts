// Simulates crashes: before and after every write, and around every step. Promises of a crashed process never settle.
import type { JournalEntry } from '../journal.ts';
import type { FlowStore } from '../store/store.ts';

/** Counts the points where a process can crash, and crashes at one of them. */
export class CrashPoints {
  passed = 0;
  /** Where it crashed. */
  died: string | undefined;
  readonly #at: number | undefined;
  #onDeath = (): void => {};

  /** `at`: the point to crash at; undefined: never. */
  constructor(at?: number) {
    this.#at = at;
  }

  /** Resolves at the crash. */
  death(): Promise<void> {
    return new Promise((resolve) => (this.#onDeath = resolve));
  }

  get isDead(): boolean {
    return this.died !== undefined;
  }

  /** Never settles after a crash. */
  pass(where: string): Promise<void> {
    if (this.isDead) return new Promise(() => {});
    if (this.passed++ !== this.#at) return Promise.resolve();
    this.died = where;
    this.#onDeath();
    return new Promise(() => {});
  }
}

/** The store as one process sees it, until it crashes. */
export function createCrashingStore(inner: FlowStore, crashPoints: CrashPoints, journal: JournalEntry[]): FlowStore {
  const alive = <T>(work: () => Promise<T>): Promise<T> => (crashPoints.isDead ? new Promise(() => {}) : work());
  const write = async <T>(name: string, work: () => Promise<T>, add: JournalEntry[] = []): Promise<T> => {
    await crashPoints.pass(`before ${name}`);
    const done = await alive(work);
    if (isWritten(done)) journal.push(...add);
    await crashPoints.pass(`after ${name}`);
    return done;
  };
  return {
    durable: inner.durable,
    salt: inner.salt,
    create: (header, entries, limits) => write('create', () => inner.create(header, entries, limits), entries),
    commit: (id, rev, change) => write('commit', () => inner.commit(id, rev, change), change.add),
    lease: (id, owner, ms) => write('lease', () => inner.lease(id, owner, ms)),
    release: (id, owner) => write('release', () => inner.release(id, owner)),
    putBlob: (sha256, bytes, ttlMs) => write('putBlob', () => inner.putBlob(sha256, bytes, ttlMs)),
    spend: (id, rev, ttlMs) => alive(() => inner.spend(id, rev, ttlMs)),
    load: (id) => alive(() => inner.load(id)),
    due: (now, max) => alive(() => inner.due(now, max)),
    getBlob: (sha256) => alive(() => inner.getBlob(sha256)),
    list: (principal) => alive(() => inner.list(principal)),
    forgetOutcome: (id) => alive(async () => inner.forgetOutcome?.(id)),
    drop: (id) => alive(() => inner.drop(id)),
    close: () => inner.close(),
  };
}

/** A refused commit has added nothing. */
function isWritten(done: unknown): boolean {
  return done === 'ok' || (typeof done === 'object' && done !== null && 'ok' in done && done.ok === true);
}
