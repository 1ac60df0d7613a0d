// A small object that was read, with the text in which it came: whoever only passes it on does not write it anew. The members of a
// protocol are taken out of the text itself, and put on at its end; all else is made only if somebody wants to have it.
import { isObject } from './message.ts';
import type { JsonObject } from './message.ts';
import { RawObject } from './raw-object.ts';
import type { RawType } from './raw-object.ts';

/** Members that are put on often, with their text, which begins with a comma. */
export interface WrittenMembers {
  readonly values: JsonObject;
  readonly text: string;
}

export class RawText extends RawObject {
  /** As it came. */
  readonly #read: JsonObject;
  #text: string | undefined;
  /** What was put on, and, as undefined, what was taken off. */
  readonly #changes: JsonObject | undefined;

  /** `text` is the value, changed, and nothing else, no space at its ends; without it, it is written when it is first asked for. */
  constructor(read: JsonObject, text?: string, changes?: JsonObject) {
    super();
    this.#read = read;
    this.#text = text;
    this.#changes = changes;
  }

  get text(): string {
    return (this.#text ??= JSON.stringify(this.parse()));
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get(key: string): unknown {
    const from = this.#changes && Object.hasOwn(this.#changes, key) ? this.#changes : this.#read;
    return Object.hasOwn(from, key) ? from[key] : undefined;
  }

  typeOf(key: string): RawType | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value)) return 'array';
    return isObject(value) ? 'object' : typeof value === 'string' ? 'string' : 'other';
  }

  with(values: JsonObject): RawText {
    return new RawText(this.#read, undefined, this.#changed(values));
  }

  /** With members that it does not have. */
  plus({ values, text }: WrittenMembers): RawText {
    const own = this.text;
    const joined = own === '{}' ? `{${text.slice(1)}}` : `${own.slice(0, -1)}${text}}`;
    return new RawText(this.#read, joined, this.#changed(values));
  }

  without(...keys: string[]): RawText {
    return keys.reduce<RawText>((left, key) => (left.has(key) ? left.#without(key) : left), this);
  }

  #without(key: string): RawText {
    return new RawText(this.#read, this.#textWithout(key), this.#changed({ [key]: undefined }));
  }

  /** Not spread: where keys meet that takes V8 microseconds. */
  #changed(changes: JsonObject): JsonObject {
    return this.#changes ? Object.assign({}, this.#changes, changes) : changes;
  }

  parse(): JsonObject {
    return this.#changes ? changed(this.#read, this.#changes) : this.#read;
  }

  chunks(): Buffer[] {
    return [Buffer.from(this.text)];
  }

  get byteLength(): number {
    return Buffer.byteLength(this.text);
  }

  /** Undefined where it is not certain where it stands: it may be there twice, or further in, or be written in another way. */
  #textWithout(key: string): string | undefined {
    const text = this.#text;
    const name = `${JSON.stringify(key)}:`;
    const at = text?.indexOf(name) ?? -1;
    const member = `${name}${JSON.stringify(this.get(key))}`;
    if (!text || !text.startsWith(member, at) || text.includes(name, at + 1)) return undefined;
    const end = at + member.length;
    const [before, after] = [text[at - 1], text[end]];
    if (before !== '{' && before !== ',') return undefined;
    if (after === '}') return `${text.slice(0, before === ',' ? at - 1 : at)}${text.slice(end)}`;
    return after === ',' ? `${text.slice(0, at)}${text.slice(end + 1)}` : undefined;
  }
}

function changed(read: JsonObject, changes: JsonObject): JsonObject {
  const value: JsonObject = { ...read, ...changes };
  for (const key in changes) if (changes[key] === undefined) delete value[key];
  return value;
}
