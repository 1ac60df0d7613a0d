// A small object that was read, with the text in which it came: whoever only passes it on does not write it anew. A member that
// stands first or last, as those of protocols do, is taken off and put on in the text itself; all else is made only if somebody
// wants to have it.
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
    return new RawText(this.#read, undefined, { ...this.#changes, ...values });
  }

  /** With members that it does not have. */
  plus({ values, text }: WrittenMembers): RawText {
    const own = this.text;
    const joined = own === '{}' ? `{${text.slice(1)}}` : `${own.slice(0, -1)}${text}}`;
    return new RawText(this.#read, joined, this.#changes ? { ...this.#changes, ...values } : values);
  }

  without(...keys: string[]): RawText {
    const [key, ...others] = keys.filter((one) => this.has(one));
    if (key === undefined) return this;
    const one = new RawText(this.#read, this.#textWithout(key), { ...this.#changes, [key]: undefined });
    return one.without(...others);
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

  /** The first and the last member of an object can be told by its text alone; undefined for others. */
  #textWithout(key: string): string | undefined {
    const text = this.#text;
    if (text === undefined) return undefined;
    const name = `${JSON.stringify(key)}:`;
    const member = `${name}${JSON.stringify(this.get(key))}`;
    const rest = text.startsWith(`{${member},`)
      ? `{${text.slice(member.length + 2)}`
      : text.endsWith(`,${member}}`) && `${text.slice(0, -member.length - 2)}}`;
    // It may stand there twice, and which one counts would be for each reader to say.
    return rest && !rest.includes(name) ? rest : undefined;
  }
}

function changed(read: JsonObject, changes: JsonObject): JsonObject {
  const value: JsonObject = { ...read, ...changes };
  for (const key in changes) if (changes[key] === undefined) delete value[key];
  return value;
}
