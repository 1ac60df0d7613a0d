// An object that nobody has read: the bytes in which it came, and where its members stand in them. It is changed by leaving
// members out and putting others in; what is not changed goes on byte by byte, so that a number too large for JavaScript, or
// a key that stands there twice further in, arrives as it was sent.
// 1. Its bytes are whole, valid JSON without a line end, in valid UTF-8: whoever makes one has checked them.
// 2. No two members have the same key.
// 3. It never changes: `with` and `without` make another one.
import { isObject } from './message.ts';
import type { JsonObject } from './message.ts';

/** A member as it stands in the message: the bytes from its key to the end of its value, and where in them the value begins. */
export interface RawMember {
  bytes: Buffer;
  valueAt: number;
}

/** A result on its way: read already, or not yet. */
export type ResultObject = JsonObject | RawObject;

const QUOTE = 0x22;
const BRACKET = 0x5b;
const BRACE = 0x7b;

export class RawObject {
  readonly #members: ReadonlyMap<string, RawMember>;
  /** As it came, while no member was changed. */
  readonly #whole: Buffer | undefined;

  constructor(members: ReadonlyMap<string, RawMember>, whole?: Buffer) {
    this.#members = members;
    this.#whole = whole;
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  /** Reads this one member. */
  get(key: string): unknown {
    const member = this.#members.get(key);
    return member && JSON.parse(member.bytes.toString('utf8', member.valueAt));
  }

  /** What a member is, without reading it. */
  typeOf(key: string): 'object' | 'array' | 'string' | 'other' | undefined {
    const member = this.#members.get(key);
    switch (member?.bytes[member.valueAt]) {
      case undefined:
        return undefined;
      case BRACE:
        return 'object';
      case BRACKET:
        return 'array';
      case QUOTE:
        return 'string';
      default:
        return 'other';
    }
  }

  /** With other values for some members; what had none comes last. */
  with(values: JsonObject): RawObject {
    const members = new Map(this.#members);
    for (const [key, value] of Object.entries(values)) members.set(key, toMember(key, value));
    return new RawObject(members);
  }

  without(...keys: string[]): RawObject {
    if (!keys.some((key) => this.has(key))) return this;
    const members = new Map(this.#members);
    for (const key of keys) members.delete(key);
    return new RawObject(members);
  }

  /** Reads all of it. */
  parse(): JsonObject {
    return JSON.parse(Buffer.concat(this.chunks()).toString()) as JsonObject;
  }

  /** Its bytes as they are to be written, one piece after the other. */
  chunks(): Buffer[] {
    if (this.#whole) return [this.#whole];
    const chunks: Buffer[] = [];
    for (const { bytes } of this.#members.values()) chunks.push(chunks.length === 0 ? OPEN : COMMA, bytes);
    return chunks.length === 0 ? [OPEN, CLOSE] : [...chunks, CLOSE];
  }

  get byteLength(): number {
    return this.chunks().reduce((sum, { length }) => sum + length, 0);
  }

  /** Wherever it is written together with something else, it is written like anything else. */
  toJSON(): JsonObject {
    return this.parse();
  }
}

/** For whoever has to see all of it. */
export function toPlain(result: ResultObject): JsonObject {
  return result instanceof RawObject ? result.parse() : result;
}

/** One member, whatever the result is. */
export function fieldOf(result: ResultObject, key: string): unknown {
  return result instanceof RawObject ? result.get(key) : result[key];
}

export function isResultObject(value: unknown): value is ResultObject {
  return value instanceof RawObject || isObject(value);
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

function toMember(key: string, value: unknown): RawMember {
  const start = `${JSON.stringify(key)}:`;
  return { bytes: Buffer.from(start + JSON.stringify(value)), valueAt: Buffer.byteLength(start) };
}
