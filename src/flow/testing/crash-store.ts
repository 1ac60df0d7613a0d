// The points at which a process can die: before and after everything that it writes, and around every step. A process that has died
// does nothing more: whatever it waits for never comes.
import type { Entry } from '../journal.ts';
import type { FlowStore } from '../store/store.ts';

/** Counts the points, and dies at one of them. */
export class Boundaries {
  passed = 0;
  /** Where it died. */
  died: string | undefined;
  readonly #at: number | undefined;
  #onDeath = (): void => {};

  /** At which one; never, if undefined. */
  constructor(at?: number) {
    this.#at = at;
  }

  /** Resolves when the process dies, if it does. */
  death(): Promise<void> {
    return new Promise((resolve) => (this.#onDeath = resolve));
  }

  /** Whoever waits here is of the process; if it dies, this never settles. */
  pass(where: string): Promise<void> {
    if (this.passed++ !== this.#at) return Promise.resolve();
    this.died = where;
    this.#onDeath();
    return new Promise(() => {});
  }
}

/** The store as one process sees it, until it dies. */
export function mortalStore(inner: FlowStore, boundaries: Boundaries, journal: Entry[]): FlowStore {
  let dead = false;
  const write = async <T>(name: string, work: () => Promise<T>, add: Entry[] = []): Promise<T> => {
    if (dead) return new Promise(() => {});
    dead = true;
    await boundaries.pass(`before ${name}`);
    dead = false;
    const done = await work();
    journal.push(...add);
    dead = true;
    await boundaries.pass(`after ${name}`);
    dead = false;
    return done;
  };
  return {
    durable: inner.durable,
    create: (header, entries, limits) => write('create', () => inner.create(header, entries, limits), entries),
    commit: (id, rev, change) => write('commit', () => inner.commit(id, rev, change), change.add),
    lease: (id, owner, ms) => write('lease', () => inner.lease(id, owner, ms)),
    release: (id, owner) => write('release', () => inner.release(id, owner)),
    putBlob: (sha256, bytes, ttlMs) => write('putBlob', () => inner.putBlob(sha256, bytes, ttlMs)),
    spend: (id, rev, ttlMs) => inner.spend(id, rev, ttlMs),
    load: (id) => inner.load(id),
    due: (now, max) => inner.due(now, max),
    getBlob: (sha256) => inner.getBlob(sha256),
    list: (principal) => inner.list(principal),
    forgetOutcome: async (id) => inner.forgetOutcome?.(id),
    drop: (id) => inner.drop(id),
    close: () => inner.close(),
  };
}
