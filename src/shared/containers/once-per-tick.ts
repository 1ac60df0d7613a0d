// What was made of a value that is handed to many, one after the other within the same turn of the event loop: it is made for
// the first of them, and given to the others.
export class OncePerTick<K extends object, V> {
  #of: K | undefined;
  #made: V | undefined;

  from(value: K, make: (value: K) => V): V {
    if (value === this.#of) return this.#made as V;
    this.#made = make(value);
    this.#of = value;
    // Who hands the same object around later means something new.
    queueMicrotask(() => {
      if (this.#of === value) this.#of = this.#made = undefined;
    });
    return this.#made;
  }
}
