// A bounded map that drops the least recently used entry, for keys that come from peers.
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #onForgotten: (value: V) => void;
  readonly #entries = new Map<K, V>();
  /** The most recent key needs no reordering; often there is just one. */
  #newest: K | undefined;

  /** `onForgotten` gets every value that leaves, except replaced ones. */
  constructor(max: number, onForgotten: (value: V) => void = () => {}) {
    this.#max = max;
    this.#onForgotten = onForgotten;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && key !== this.#newest) this.#renew(key, value);
    return value;
  }

  /** As `get`, but it does not count as a use, and so costs less. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  getOrCreate(key: K, create: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const created = create();
    this.set(key, created);
    return created;
  }

  set(key: K, value: V): void {
    this.#renew(key, value);
    if (this.#entries.size > this.#max) this.delete(this.oldest()!);
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (this.#entries.delete(key)) this.#onForgotten(value!);
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key);
  }

  /** The key that will be dropped next. */
  oldest(): K | undefined {
    return this.#entries.keys().next().value;
  }

  entries(): [K, V][] {
    return [...this.#entries];
  }

  #renew(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
  }
}
