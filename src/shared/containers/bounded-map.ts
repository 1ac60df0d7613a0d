// A map that forgets what was used longest ago, since its keys come from peers.
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #onForgotten: (value: V) => void;
  readonly #entries = new Map<K, V>();
  /** Whoever was used last needs no new place: of what every message looks up there is often just one. */
  #newest: K | undefined;

  /** `onForgotten` is told of everything that leaves, except when another value takes its place. */
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

  set(key: K, value: V): void {
    this.#renew(key, value);
    if (this.#entries.size > this.#max) this.delete(this.oldest()!);
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (this.#entries.delete(key)) this.#onForgotten(value!);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  /** The key that would be forgotten next. */
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
