// A small object that was read, with the text in which it came: whoever only passes it on does not write it anew. The members of a
// protocol are taken out of the text itself, and put on at its end; all else is made only if somebody wants to have it.
import { keepNumbers, writeExactly } from './exact-numbers.ts';
import type { JsonObject } from '../message.ts';
import { isObject } from '../message.ts';
import { RawObject } from './raw-object.ts';
import type { RawType } from './raw-object.ts';

/** Members that are put on often, with their text, which begins with a comma. */
export interface EncodedMembers {
  readonly values: JsonObject;
  readonly text: string;
}

/** Of which the names of members are made. Nobody has to write one like this; other characters often are. */
const ESCAPED_LETTER = /\\u00(?:3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** How one came of another: a member was taken off, or some were put on. */
type Change = { of: RawText } & ({ off: string; on?: undefined } | { on: JsonObject; off?: undefined });

export class RawText extends RawObject {
  /** As it came, whatever was changed since. */
  readonly #read: JsonObject;
  readonly #change: Change | undefined;
  #text: string | undefined;
  #hasNumbers = false;

  /** `text` is the value, changed, and nothing else, no space at its ends; without it, it is written when it is first asked for. */
  constructor(read: JsonObject, text?: string, change?: Change) {
    super();
    this.#read = read;
    this.#text = text;
    this.#change = change;
  }

  get text(): string {
    return (this.#text ??= this.#textLeft() ?? writeExactly(this.parse()));
  }

  override includes(text: string): boolean {
    return this.text.includes(text);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get(key: string): unknown {
    const change = this.#change;
    if (change?.off === key) return undefined;
    if (change?.on && Object.hasOwn(change.on, key)) return change.on[key];
    if (change) return change.of.get(key);
    const value = ownValue(this.#read[key]);
    if (typeof value === 'object') this.#keepNumbers();
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

  /** With members that it does not have. */
  plus({ values, text }: EncodedMembers): RawText {
    const own = this.text;
    const joined = own === '{}' ? `{${text.slice(1)}}` : `${own.slice(0, -1)}${text}}`;
    return new RawText(this.#read, joined, { of: this, on: values });
  }

  without(...keys: string[]): RawText {
    return keys.reduce<RawText>((left, key) => (left.has(key) ? left.#without(key) : left), this);
  }

  #without(key: string): RawText {
    return new RawText(this.#read, undefined, { of: this, off: key });
  }

  /** As it was with this member, if taking that off was the last thing that was done to it: put on again, it would be the same. */
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

  /** Looked for when somebody reads what may hold numbers: most results are only passed on. */
  #keepNumbers(): JsonObject {
    if (!this.#hasNumbers && this.#text !== undefined) keepNumbers(this.#read, this.#text);
    this.#hasNumbers = true;
    return this.#read;
  }

  #textLeft(): string | undefined {
    const change = this.#change;
    return change?.off === undefined ? undefined : change.of.#textWithout(change.off);
  }

  /** Undefined where it is not certain where it stands, or it is written in another way. */
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

  /** Of a member that it has, by its name in quotes. Undefined where that may stand there twice, further in, or in other letters. */
  #placeOf(name: string): number | undefined {
    const { text } = this;
    const at = text.indexOf(name);
    return at === -1 || text.includes(name, at + 1) || hasEscapedLetter(text) ? undefined : at;
  }
}

/** Looked for as it stands first: an expression takes far longer, and mostly there is none. */
function hasEscapedLetter(text: string): boolean {
  return text.includes('\\u00') && ESCAPED_LETTER.test(text);
}

/** What an object inherits is a function, or the object that it inherits it from; nothing in JSON is. Looking first takes twice as long. */
function ownValue(value: unknown): unknown {
  return typeof value === 'function' || value === Object.prototype ? undefined : value;
}
