// Memoizes a value derived from an object until the current synchronous work is done, for an object that is handed to
// many receivers.
export class OncePerTick<K extends object, V> {
  #of: K | undefined;
  #made: V | undefined;

  from(value: K, make: (value: K) => V): V {
    if (value === this.#of) return this.#made as V;
    this.#made = make(value);
    this.#of = value;
    // The same object may mean something new later.
    queueMicrotask(() => {
      if (this.#of === value) this.#of = this.#made = undefined;
    });
    return this.#made;
  }
}
