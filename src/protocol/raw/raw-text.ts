// A small parsed object with its original text, which is passed on unchanged. Protocol members are removed from the
// text and appended to it directly; everything else is computed on demand.
import { keepNumbers, writeExactly } from './exact-numbers.ts';
import type { JsonObject } from '../message.ts';
import { isObject } from '../message.ts';
import { RawObject } from './raw-object.ts';
import type { RawType } from './raw-object.ts';

/** Members that are often appended, with their text, which begins with a comma. */
export interface EncodedMembers {
  readonly values: JsonObject;
  readonly text: string;
}

/** Escaped letters of member names. Hardly anyone writes these; other escapes are common. */
const ESCAPED_LETTER = /\\u00(?:3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** How one was derived from another: a member was removed, or some were added. */
type Change = { of: RawText } & ({ off: string; on?: undefined } | { on: JsonObject; off?: undefined });

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
