// A large unparsed object: its bytes and the positions of its members.
// 1. Its bytes are complete, valid JSON without a line end, in valid UTF-8; the creator has checked them.
// 2. No two members have the same key.
import { parseExactly, writeExactly } from './exact-numbers.ts';
import type { JsonObject } from '../message.ts';
import { RawObject } from './raw-object.ts';
import type { RawType } from './raw-object.ts';

/** A member: the bytes from its key to the end of its value, and where the value begins. */
export interface RawMember {
  bytes: Buffer;
  valueAt: number;
}

const QUOTE = 0x22;
const BRACKET = 0x5b;
const BRACE = 0x7b;

export class RawBytes extends RawObject {
  readonly #members: ReadonlyMap<string, RawMember>;
  /** The original bytes, if no member was changed. */
  readonly #whole: Buffer | undefined;

  constructor(members: ReadonlyMap<string, RawMember>, whole?: Buffer) {
    super();
    this.#members = members;
    this.#whole = whole;
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  /** Parses this member only. */
  get(key: string): unknown {
    const member = this.#members.get(key);
    return member && parseExactly(member.bytes.toString('utf8', member.valueAt));
  }

  /** The type of a member, without parsing it. */
  typeOf(key: string): RawType | undefined {
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

  /** A copy with other values for some members; new members come last. */
  with(values: JsonObject): RawBytes {
    const members = new Map(this.#members);
    for (const [key, value] of Object.entries(values)) members.set(key, toMember(key, value));
    return new RawBytes(members);
  }

  without(...keys: string[]): RawBytes {
    if (!keys.some((key) => this.has(key))) return this;
    const members = new Map(this.#members);
    for (const key of keys) members.delete(key);
    return new RawBytes(members);
  }

  /** Parses the whole object. */
  parse(): JsonObject {
    return parseExactly(Buffer.concat(this.chunks()).toString()) as JsonObject;
  }

  /** The bytes to write, in chunks. */
  chunks(): Buffer[] {
    if (this.#whole) return [this.#whole];
    const chunks: Buffer[] = [];
    for (const { bytes } of this.#members.values()) chunks.push(chunks.length === 0 ? OPEN : COMMA, bytes);
    return chunks.length === 0 ? [OPEN, CLOSE] : [...chunks, CLOSE];
  }

  get byteLength(): number {
    return this.chunks().reduce((sum, { length }) => sum + length, 0);
  }
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

function toMember(key: string, value: unknown): RawMember {
  const start = `${JSON.stringify(key)}:`;
  return { bytes: Buffer.from(start + writeExactly(value)), valueAt: Buffer.byteLength(start) };
}
