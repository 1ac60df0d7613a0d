// A map of what is under way, for the path of every message: entries come and go, and none stays long.
// A Map that loses and gains entries makes itself new tables, and V8 links each old table to the next one. Once one of them has
// grown old, all that stood in it and in those after it outlives the garbage collections of young objects, whole calls among
// them. So the values stand in cells that are emptied when they go: what is left behind then is next to nothing.

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

  /** Returns what was there. */
  delete(key: K): V | undefined {
    const cell = this.#cells.get(key);
    if (!cell) return undefined;
    const { value } = cell;
    cell.value = undefined;
    this.#cells.delete(key);
    return value;
  }

  /** In the order in which they came; as they are now, whatever goes meanwhile. */
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
