// A map for short-lived entries on the hot path. A Map that gains and loses entries allocates new tables, and V8 links
// each old table to the next. Once a table is in the old generation, everything in it and in later tables, whole calls
// included, survives minor garbage collections. So values are held in cells that are emptied on removal.

interface Cell<V> {
  value: V | undefined;
}

export class ShortLivedMap<K extends string | number, V extends object> {
  readonly #cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#cells.has(key);
  }

  set(key: K, value: V): void {
    const cell = this.#cells.get(key);
    if (cell) cell.value = value;
    else this.#cells.set(key, { value });
  }

  /** Returns the removed value. */
  delete(key: K): V | undefined {
    const cell = this.#cells.get(key);
    if (!cell) return undefined;
    const { value } = cell;
    cell.value = undefined;
    this.#cells.delete(key);
    return value;
  }

  /** The values in insertion order, as a snapshot. */
  values(): V[] {
    const values: V[] = [];
    for (const { value } of this.#cells.values()) if (value) values.push(value);
    return values;
  }

  keys(): K[] {
    return [...this.#cells.keys()];
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = undefined;
    this.#cells.clear();
  }
}
