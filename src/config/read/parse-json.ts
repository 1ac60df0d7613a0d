// Parses JSON with comments and trailing commas, and records the position of each key and value. Strict otherwise, with readable error
// messages.
import type { ConfigPath, SourcePositions } from '../check/config-problems.ts';

/** The first syntax error of a text. */
export class ConfigSyntaxError extends Error {
  readonly offset: number;
  readonly hint: string;

  constructor(offset: number, message: string, hint: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

interface ParsedJson {
  value: unknown;
  /** Keys that occur twice in one object; the last one counts. */
  duplicates: { path: ConfigPath; offset: number }[];
}

export function parseJson(text: string, places: SourcePositions): ParsedJson {
  return new Reader(text, places).read();
}

const BLANK = /(?:[ \t\r\n\uFEFF]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"/y;
const BARE = /[^\s,:{}[\]"/]+/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const MAX_DEPTH = 64;

class Reader {
  readonly #text: string;
  readonly #places: SourcePositions;
  readonly #duplicates: ParsedJson['duplicates'] = [];
  #at = 0;

  constructor(text: string, places: SourcePositions) {
    this.#text = text;
    this.#places = places;
  }

  read(): ParsedJson {
    const value = this.#value([]);
    if (this.#peek() !== '') this.#fail('something follows the end of the object', 'Remove it, or the brace too many.');
    return { value, duplicates: this.#duplicates };
  }

  #value(path: ConfigPath): unknown {
    const next = this.#peek();
    this.#places.noteValue(path, this.#at);
    if (path.length > MAX_DEPTH) this.#fail('this is nested too deep', `Stay within ${MAX_DEPTH} levels.`);
    if (next === '{') return this.#object(path);
    if (next === '[') return this.#list(path);
    return next === '"' ? this.#string() : this.#word();
  }

  #object(path: ConfigPath): object {
    const entries = new Map<string, unknown>();
    this.#at += 1;
    while (this.#peek() !== '}') {
      const offset = this.#at;
      const key = this.#key();
      const inner = [...path, key];
      if (entries.has(key)) this.#duplicates.push({ path: inner, offset });
      this.#places.noteKey(inner, offset);
      if (this.#peek() !== ':') this.#fail(`":" is missing after "${key}"`, 'Write "key": value.');
      this.#at += 1;
      entries.set(key, this.#value(inner));
      this.#separator('}');
    }
    this.#at += 1;
    return Object.fromEntries(entries);
  }

  #list(path: ConfigPath): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    while (this.#peek() !== ']') {
      items.push(this.#value([...path, items.length]));
      this.#separator(']');
    }
    this.#at += 1;
    return items;
  }

  #separator(end: '}' | ']'): void {
    const next = this.#peek();
    if (next === ',') this.#at += 1;
    else if (next === '') this.#fail(`the file ends before its "${end}"`, `Close what was opened with "${end}".`);
    else if (next !== end) this.#fail(`"," or "${end}" is missing here`, 'Look at the end of the line above, too.');
  }

  #key(): string {
    const next = this.#peek();
    if (next === '"') return this.#string();
    if (next === '') this.#fail('the file ends before its "}"', 'Close what was opened with "}".');
    return this.#fail('a key is missing here', 'Write keys in double quotes: "key": value.');
  }

  #string(): string {
    const start = this.#at;
    const literal = this.#take(STRING);
    if (literal === '') this.#fail('this text has no end', 'Close it with a double quote on the same line.');
    try {
      return JSON.parse(literal) as string;
    } catch {
      const bad = /\\(?!["\\/bfnrt]|u[\dA-Fa-f]{4})/.exec(literal.replaceAll('\\\\', '  '));
      this.#at = start + (bad?.index ?? 0);
      return this.#fail(
        'this text has a character that JSON does not allow',
        'Write a backslash twice: "C:\\\\tools".',
      );
    }
  }

  #word(): unknown {
    const start = this.#at;
    const word = this.#take(BARE);
    if (WORDS.has(word)) return WORDS.get(word);
    if (NUMBER.test(word)) return Number(word);
    this.#at = start;
    if (word === '') return this.#fail('a value is missing here', 'Give one, or remove the key.');
    return this.#fail(
      'this is not a value',
      'Write text in double quotes; other values are numbers, true, false and null.',
    );
  }

  /** The next character outside of blanks and comments; empty at the end. */
  #peek(): string {
    this.#take(BLANK);
    return this.#text.charAt(this.#at);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #fail(message: string, hint: string): never {
    throw new ConfigSyntaxError(this.#at, message, hint);
  }
}
