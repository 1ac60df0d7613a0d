// An object that is passed on exactly as it came unless it is changed, so that large numbers and nested duplicate keys
// survive. Small ones are parsed (`RawText`), large ones are not (`RawBytes`).
// 1. It is immutable: `with` and `without` return a new one.
// 2. Its encoding contains no line end.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';
import { keepNumbers, writeExactly, parseExactly } from './exact-numbers.ts';

/** A result, parsed or not. */
export type ResultObject = JsonObject | RawObject;

type RawType = 'object' | 'array' | 'string' | 'other';

export abstract class RawObject {
  abstract has(key: string): boolean;
  /** Parses this member only. */
  abstract get(key: string): unknown;
  /** The type of a member, without parsing it. */
  abstract typeOf(key: string): RawType | undefined;
  /** A copy with other values for some members; new members come last. */
  abstract with(values: JsonObject): RawObject;
  abstract without(...keys: string[]): RawObject;
  /** Parses the whole object. */
  abstract parse(): JsonObject;
  /** The bytes to write, in chunks. */
  abstract chunks(): Buffer[];
  abstract get byteLength(): number;

  /** Whether the encoding contains this text. Text across chunk borders is not found. */
  includes(text: string): boolean {
    return this.chunks().some((chunk) => chunk.includes(text));
  }

  /** Used when it is encoded as part of something else. */
  toJSON(): JsonObject {
    return this.parse();
  }
}

/** The result as a plain object. */
export function toPlainObject(result: ResultObject): JsonObject {
  return result instanceof RawObject ? result.parse() : result;
}

/** One member of a result, parsed or not. */
export function fieldOf(result: ResultObject, key: string): unknown {
  return result instanceof RawObject ? result.get(key) : result[key];
}

export function isResultObject(value: unknown): value is ResultObject {
  return value instanceof RawObject || isObject(value);
}

/** Members that are often appended, with their text, which begins with a comma. */
export interface EncodedMembers {
  readonly values: JsonObject;
  readonly text: string;
}

/** Escaped letters of member names. Hardly anyone writes these; other escapes are common. */
const ESCAPED_LETTER = /\\u00(?:3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** How one was derived from another: a member was removed, or some were added. */
type Change = { of: RawText } & ({ off: string; on?: undefined } | { on: JsonObject; off?: undefined });

/**
 * A small parsed object with its original text, which is passed on unchanged. Protocol members are removed from the text
 * and appended to it directly; everything else is computed on demand.
 */
export class RawText extends RawObject {
  /** The object as it came, before any change. */
  readonly #read: JsonObject;
  readonly #change: Change | undefined;
  #text: string | undefined;
  #hasNumbers = false;

  /** `text` is the encoded value without surrounding space; if absent, it is encoded on demand. */
  constructor(read: JsonObject, text?: string, change?: Change) {
    super();
    this.#read = read;
    this.#text = text;
    this.#change = change;
  }

  get text(): string {
    const change = this.#change;
    const left = this.#text ?? (change?.off === undefined ? undefined : change.of.#textWithout(change.off));
    return (this.#text = left ?? writeExactly(this.parse()));
  }

  override includes(text: string): boolean {
    return this.text.includes(text);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get(key: string): unknown {
    let origin: RawText | undefined;
    for (let change = this.#change; change; change = change.of.#change) {
      if (change.off === key) return undefined;
      if (change.on && Object.hasOwn(change.on, key)) return change.on[key];
      origin = change.of;
    }
    // Inherited values are functions or prototypes, which JSON never contains. Checking ownership takes twice as long.
    const value = this.#read[key];
    if (typeof value !== 'object') return typeof value === 'function' ? undefined : value;
    if (value === Object.prototype) return undefined;
    if (origin) origin.#keepNumbers();
    else this.#keepNumbers();
    return value;
  }

  typeOf(key: string): RawType | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value)) return 'array';
    return isObject(value) ? 'object' : typeof value === 'string' ? 'string' : 'other';
  }

  with(values: JsonObject): RawText {
    return new RawText(this.#read, undefined, { of: this, on: values });
  }

  /** A copy with new members. */
  plus({ values, text }: EncodedMembers): RawText {
    const own = this.text;
    const joined = own === '{}' ? `{${text.slice(1)}}` : `${own.slice(0, -1)}${text}}`;
    return new RawText(this.#read, joined, { of: this, on: values });
  }

  without(...keys: string[]): RawText {
    const drop = (left: RawText, key: string): RawText =>
      left.has(key) ? new RawText(left.#read, undefined, { of: left, off: key }) : left;
    return keys.reduce(drop, this as RawText);
  }

  /** The object before this member was removed, if that was the last change and the member is the same. */
  before(key: string, value: unknown): RawText | undefined {
    const change = this.#change;
    if (change?.off !== key || change.of.get(key) !== value) return undefined;
    return change.of.#placeOf(JSON.stringify(key)) === undefined ? undefined : change.of;
  }

  parse(): JsonObject {
    const change = this.#change;
    if (!change) return this.#keepNumbers();
    const value: JsonObject = { ...change.of.parse(), ...change.on };
    if (change.off !== undefined) delete value[change.off];
    return value;
  }

  chunks(): Buffer[] {
    return [Buffer.from(this.text)];
  }

  get byteLength(): number {
    return Buffer.byteLength(this.text);
  }

  /** Found on demand, because most results are only passed on. */
  #keepNumbers(): JsonObject {
    if (!this.#hasNumbers && this.#text !== undefined) keepNumbers(this.#read, this.#text);
    this.#hasNumbers = true;
    return this.#read;
  }

  /** Undefined if its position is uncertain or it is encoded differently. */
  #textWithout(key: string): string | undefined {
    const { text } = this;
    const name = JSON.stringify(key);
    const at = this.#placeOf(name);
    const member = `${name}:${writeExactly(this.get(key))}`;
    if (at === undefined || !text.startsWith(member, at)) return undefined;
    const end = at + member.length;
    const [before, after] = [text[at - 1], text[end]];
    if (before !== '{' && before !== ',') return undefined;
    if (after === '}') return `${text.slice(0, before === ',' ? at - 1 : at)}${text.slice(end)}`;
    return after === ',' ? `${text.slice(0, at)}${text.slice(end + 1)}` : undefined;
  }

  /** The position of an existing member. Undefined if the name may also occur nested, twice or escaped. */
  #placeOf(name: string): number | undefined {
    const { text } = this;
    const at = text.indexOf(name);
    if (at === -1 || text.includes(name, at + 1)) return undefined;
    // Searches for a backslash first: the expression is far slower, and most texts have no backslash.
    return text.includes('\\u00') && ESCAPED_LETTER.test(text) ? undefined : at;
  }
}

/** A member: the bytes from its key to the end of its value, and where the value begins. */
export interface RawMember {
  bytes: Buffer;
  valueAt: number;
}

const QUOTE = 0x22;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/**
 * A large unparsed object: its bytes and the positions of its members.
 * 1. Its bytes are complete, valid JSON without a line end, in valid UTF-8; the creator has checked them.
 * 2. No two members have the same key.
 */
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

  get(key: string): unknown {
    const member = this.#members.get(key);
    return member && parseExactly(member.bytes.toString('utf8', member.valueAt));
  }

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

  parse(): JsonObject {
    return parseExactly(Buffer.concat(this.chunks()).toString()) as JsonObject;
  }

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

function toMember(key: string, value: unknown): RawMember {
  const start = `${JSON.stringify(key)}:`;
  return { bytes: Buffer.from(start + writeExactly(value)), valueAt: Buffer.byteLength(start) };
}
