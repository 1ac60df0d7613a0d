// Packs plain objects into short texts. The names of their members, and values that are often the same, are stored once as a shape; the text
// has the number of the shape and the other values. Like JSON, it drops undefined members and keeps everything else.
type Plain = Record<string, unknown>;

interface Shape {
  /** An object with the common members of this shape. */
  common: Plain;
  /** Names of the members whose values are in the text, in order. */
  own: string[];
}

/** Beyond this number, objects are stored as JSON. */
const MAX_SHAPES = 5000;
const WHOLE = -1;

export class ObjectPacker {
  readonly #common: ReadonlySet<string>;
  readonly #not: ReadonlySet<string>;
  readonly #numbers = new Map<string, number>();
  readonly #shapes: Shape[] = [];

  /** `common`: members with few different string values. `not`: members to leave out. */
  constructor({ common, not = [] }: { common: string[]; not?: string[] }) {
    this.#common = new Set(common);
    this.#not = new Set(not);
  }

  pack(object: object): string {
    let kind = '';
    const values: unknown[] = [0];
    for (const name in object) {
      const value = (object as Plain)[name];
      if (value === undefined || this.#not.has(name)) continue;
      if (typeof value === 'string' && this.#common.has(name)) kind += `${name}=${value.length}:${value}\n`;
      else {
        kind += `${name}\n`;
        values.push(value);
      }
    }
    const number = this.#numbers.get(kind) ?? this.#add(kind, object as Plain);
    values[0] = number;
    return JSON.stringify(number === WHOLE ? [WHOLE, object] : values);
  }

  unpack(packed: string): Plain {
    return this.#of(JSON.parse(packed) as unknown[]);
  }

  /** Unpacks texts that are joined by commas. */
  unpackAll(packed: string): Plain[] {
    return (JSON.parse(`[${packed}]`) as unknown[][]).map((values) => this.#of(values));
  }

  #of(values: unknown[]): Plain {
    const shape = this.#shapes[values[0] as number];
    if (!shape) return values[1] as Plain;
    const object = { ...shape.common };
    const { own } = shape;
    for (let at = 0; at < own.length; at++) object[own[at] as string] = values[at + 1];
    return object;
  }

  #add(kind: string, object: Plain): number {
    if (this.#shapes.length >= MAX_SHAPES) return WHOLE;
    const shape: Shape = { common: {}, own: [] };
    for (const name in object) {
      const value = object[name];
      if (value === undefined || this.#not.has(name)) continue;
      const isCommon = typeof value === 'string' && this.#common.has(name);
      shape.common[name] = isCommon ? value : undefined;
      if (!isCommon) shape.own.push(name);
    }
    this.#numbers.set(kind, this.#shapes.length);
    return this.#shapes.push(shape) - 1;
  }
}
