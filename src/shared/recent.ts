// What was made lately of the very same things, so that it need not be made again for each message. A few are kept, whoever they
// are from: a peer that comes with ever new ones only pushes the others out.

const KEPT = 8;

interface Kept<V> {
  readonly by: readonly [unknown, unknown, unknown];
  readonly value: V;
}

export class Recent<V> {
  readonly #kept: Kept<V>[] = [];
  #next = 0;

  get(a: unknown, b?: unknown, c?: unknown): V | undefined {
    for (const { by, value } of this.#kept) if (by[0] === a && by[1] === b && by[2] === c) return value;
    return undefined;
  }

  /** Returns the value. */
  keep(value: V, ...by: [a: unknown, b?: unknown, c?: unknown]): V {
    const [a, b, c] = by;
    this.#kept[this.#next] = { by: [a, b, c], value };
    this.#next = (this.#next + 1) % KEPT;
    return value;
  }
}
