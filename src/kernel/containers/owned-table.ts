// Things that wait for their owner, by key: calls that wait for an answer, results that wait to be fetched.
// 1. Only its owner finds it. For everybody else the key does not exist.
// 2. Each caller has a limit of its own. Clients without a login share an owner, but are counted as separate callers.
// 3. Nothing waits for ever: what is overdue is gone, even if its timer is late.
// 4. It leaves once: taken, removed or given up. It may leave a tombstone, for its owner alone.
import { DeadlineItem, DeadlineList } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { BoundedMap } from './bounded-map.ts';

/**
 * What waits is alive and stays in its process: a promise, an open request. So nothing here is asynchronous, and a table that many machines share
 * has to share the keys, owners and times, and say which machine has the value.
 */
export interface OwnedTable<V, T = never> {
  readonly size: number;
  hasRoom(caller: string): boolean;
  /** Throws if the caller has no room left, as `add` does. */
  checkRoom(caller: string): void;
  add(key: string, value: V, place: Place): void;
  get(key: string, owner: string): V | undefined;
  /** For somebody who proves by the key alone that it may be seen, as by a link. */
  peek(key: string): V | undefined;
  /** Finds and removes it: of two who take it, one gets it. */
  take(key: string, owner: string): V | undefined;
  /** False if it was gone already. */
  remove(key: string, tombstone?: T): boolean;
  /** Starts its time again. */
  renew(key: string): void;
  tombstone(key: string, owner: string): T | undefined;
  /** What a caller has, oldest first. */
  of(caller: string): V[];
  values(): V[];
  /** Gives up everything that waits. */
  clear(): void;
}

interface Place {
  /** Who may use it. */
  owner: string;
  /** Whose room it takes. Default: the owner's. */
  caller?: string | undefined;
  /** How long it waits. Default: as long as the table says. */
  ms?: number | undefined;
}

export interface OwnedTableOptions<V, T = never> {
  clock: Clock;
  /** The places of each caller. */
  max: number;
  /** The error for a caller that has no place left. */
  toFull(): Error;
  /** Default: until it is removed. */
  lifeMs?: number | undefined;
  /** It was given up, and is already unknown. May return a tombstone. */
  onExpired?(value: V): T | undefined | void;
  /** How many tombstones there are, for how long, and who hears that one is gone. The oldest go first. */
  tombstones?:
    | { max: number; lifeMs?: number | undefined; onForgotten?: ((key: string) => void) | undefined }
    | undefined;
}

/** Longer times are looked at again after this one, since timers have a limit. */
const LONGEST_MS = 24 * 60 * 60_000;

class Entry<V> extends DeadlineItem {
  readonly key: string;
  readonly value: V;
  readonly owner: string;
  readonly caller: string;
  readonly ms: number;
  readonly #onDue: () => void;
  /** Monotonic time. */
  expiresAt = Infinity;

  constructor(
    key: string,
    value: V,
    { owner, caller = owner, ms = Infinity }: Place,
    onDue: (entry: Entry<V>) => void,
  ) {
    super();
    this.key = key;
    this.value = value;
    this.owner = owner;
    this.caller = caller;
    this.ms = ms;
    this.#onDue = () => onDue(this);
  }

  ring(): void {
    this.#onDue();
  }
}

export class MemoryOwnedTable<V, T = never> implements OwnedTable<V, T> {
  readonly #options: OwnedTableOptions<V, T>;
  readonly #deadlines: DeadlineList;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #callers = new Map<string, Set<Entry<V>>>();
  readonly #tombstones: BoundedMap<string, Entry<T>>;

  constructor(options: OwnedTableOptions<V, T>) {
    this.#options = options;
    this.#deadlines = new DeadlineList(options.clock);
    const { max = 0, onForgotten } = options.tombstones ?? {};
    this.#tombstones = new BoundedMap(max, (tombstone) => {
      tombstone.callOff();
      onForgotten?.(tombstone.key);
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  hasRoom(caller: string): boolean {
    const own = this.#callers.get(caller) ?? new Set();
    if (own.size >= this.#options.max) for (const entry of own) if (this.#isOver(entry)) this.#expire(entry);
    return own.size < this.#options.max;
  }

  checkRoom(caller: string): void {
    if (!this.hasRoom(caller)) throw this.#options.toFull();
  }

  add(key: string, value: V, place: Place): void {
    if (this.#entries.has(key)) throw new Error('this key is taken');
    const { ms = this.#options.lifeMs } = place;
    const entry = new Entry(key, value, { ...place, ms }, (due) => this.#whenDue(due, () => this.#expire(due)));
    this.checkRoom(entry.caller);
    this.#entries.set(key, entry);
    this.#callers.set(entry.caller, (this.#callers.get(entry.caller) ?? new Set()).add(entry));
    this.#start(entry);
  }

  get(key: string, owner: string): V | undefined {
    return this.#find(key, owner)?.value;
  }

  peek(key: string): V | undefined {
    return this.#live(key)?.value;
  }

  take(key: string, owner: string): V | undefined {
    const entry = this.#find(key, owner);
    if (entry) this.#drop(entry);
    return entry?.value;
  }

  remove(key: string, tombstone?: T): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#drop(entry, tombstone);
    return true;
  }

  renew(key: string): void {
    const entry = this.#live(key);
    if (entry) this.#start(entry);
  }

  tombstone(key: string, owner: string): T | undefined {
    const entry = this.#tombstones.peek(key);
    return entry?.owner === owner && !this.#isOver(entry) ? entry.value : undefined;
  }

  of(caller: string): V[] {
    const own = this.#callers.get(caller);
    return own ? [...own].filter((entry) => !this.#isOver(entry)).map(({ value }) => value) : [];
  }

  values(): V[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#expire(entry);
  }

  #find(key: string, owner: string): Entry<V> | undefined {
    const entry = this.#live(key);
    return entry?.owner === owner ? entry : undefined;
  }

  /** That of any owner. */
  #live(key: string): Entry<V> | undefined {
    const entry = this.#entries.get(key);
    if (!entry || !this.#isOver(entry)) return entry;
    this.#expire(entry);
    return undefined;
  }

  #isOver({ expiresAt }: Entry<unknown>): boolean {
    return expiresAt !== Infinity && expiresAt <= this.#deadlines.now();
  }

  #start(entry: Entry<unknown>): void {
    entry.expiresAt = this.#deadlines.now() + entry.ms;
    this.#await(entry);
  }

  #await(entry: Entry<unknown>): void {
    const now = this.#deadlines.now();
    if (entry.expiresAt !== Infinity) this.#deadlines.set(entry, Math.min(entry.expiresAt - now, LONGEST_MS), now);
  }

  #whenDue(entry: Entry<unknown>, act: () => void): void {
    if (this.#isOver(entry)) act();
    else this.#await(entry);
  }

  /** Only the first one who comes for it gives it up. */
  #expire(entry: Entry<V>): void {
    if (!this.#drop(entry)) return;
    const tombstone = this.#options.onExpired?.(entry.value);
    if (tombstone !== undefined) this.#bury(entry, tombstone);
  }

  #drop(entry: Entry<V>, tombstone?: T): boolean {
    if (this.#entries.get(entry.key) !== entry) return false;
    this.#entries.delete(entry.key);
    entry.callOff();
    const own = this.#callers.get(entry.caller);
    own?.delete(entry);
    if (own?.size === 0) this.#callers.delete(entry.caller);
    if (tombstone !== undefined) this.#bury(entry, tombstone);
    else if (this.#entries.size === 0 && this.#tombstones.size === 0) this.#deadlines.clear();
    return true;
  }

  #bury({ key, owner }: Entry<V>, value: T): void {
    const { lifeMs: ms } = this.#options.tombstones ?? {};
    const tombstone = new Entry(key, value, { owner, ms }, (due) =>
      this.#whenDue(due, () => this.#tombstones.delete(key)),
    );
    this.#start(tombstone);
    this.#tombstones.set(key, tombstone);
  }
}
