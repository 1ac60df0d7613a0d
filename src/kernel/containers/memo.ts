// Memoizes values by the identity of what they were made from.

const KEPT = 8;
/** The size limit of the keys: names, texts and values. */
const MAX_CHARS = 4096;

interface Kept<V> {
  readonly by: readonly [unknown, unknown, unknown];
  readonly value: V;
}

/**
 * Only a few values are kept: a peer that sends ever new ones only evicts the others. Large ones are not kept, because
 * they would outlive their peer.
 */
export class SmallMemo<V> {
  readonly #kept: Kept<V>[] = [];
  #next = 0;

  get(a: unknown, b?: unknown, c?: unknown): V | undefined {
    for (const { by, value } of this.#kept) if (by[0] === a && by[1] === b && by[2] === c) return value;
    return undefined;
  }

  /** Returns the value. */
  keep(value: V, ...by: [a: unknown, b?: unknown, c?: unknown]): V {
    if (isLarge(by)) return value;
    const [a, b, c] = by;
    this.#kept[this.#next] = { by: [a, b, c], value };
    this.#next = (this.#next + 1) % KEPT;
    return value;
  }
}

/** Stops at the limit and does not recurse, because peers choose the content. */
function isLarge(things: readonly unknown[]): boolean {
  const left = [...things];
  let room = MAX_CHARS;
  while (left.length > 0) {
    const thing = left.pop();
    const size = typeof thing === 'string' || Array.isArray(thing) ? thing.length : 1;
    if ((room -= size) < 0) return true;
    if (typeof thing !== 'object' || thing === null) continue;
    for (const name in thing) {
      if ((room -= name.length) < 0) return true;
      left.push((thing as Record<string, unknown>)[name]);
    }
  }
  return false;
}

/**
 * Memoizes a value derived from an object until the current synchronous work is done, for an object that is handed to
 * many receivers.
 */
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
