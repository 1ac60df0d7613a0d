// The listeners for changes that a server reports. A listener that fails does not affect the others.
import type { Change } from '../../kernel/target.ts';
import type { Log } from '../../kernel/base/log.ts';

type Listener = (change: Change) => unknown;

export class Listeners {
  readonly closed: Promise<string>;
  /** Called once, when the connection has ended. */
  close!: (reason: string) => void;
  readonly #log: Log;
  #byKind = new Map<Change['kind'], Set<Listener>>();

  constructor(log: Log) {
    this.#log = log;
    this.closed = new Promise((resolve) => (this.close = resolve));
  }

  on<K extends Change['kind']>(kind: K, listener: (change: Extract<Change, { kind: K }>) => unknown): () => void {
    const listeners = this.#byKind.get(kind) ?? new Set();
    this.#byKind.set(kind, listeners);
    const own: Listener = (change) => listener(change as Extract<Change, { kind: K }>);
    listeners.add(own);
    return () => void listeners.delete(own);
  }

  tell(change: Change): void {
    for (const listener of this.#byKind.get(change.kind) ?? []) this.call(change.kind, () => listener(change));
  }

  /** Calls a function of the program, and logs what it throws, at once or later. */
  call(kind: string, work: () => unknown): void {
    const fail = (error: unknown): void => this.#log.error({ error, kind }, 'listener.failed');
    try {
      const done = work();
      if (done instanceof Promise) done.catch(fail);
    } catch (error) {
      fail(error);
    }
  }
}
