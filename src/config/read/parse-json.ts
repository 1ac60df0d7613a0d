// Parses JSON with comments and trailing commas by `jsonc-parser`, records the position of each key and value, and says what to do about the first
// error. The parser is loaded with the first file: `wrap` reads none.
import type * as Jsonc from 'jsonc-parser';
import type { Node, ParseError } from 'jsonc-parser';
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
  duplicates: ConfigPath[];
}

const MAX_DEPTH = 64;
const BAD_ESCAPE = /\\(?!["\\/bfnrt]|u[\dA-Fa-f]{4})/;

export function parseJson(text: string, places: SourcePositions): ParsedJson {
  const jsonc = process.getBuiltinModule('node:module').createRequire(import.meta.url)('jsonc-parser') as typeof Jsonc;
  const duplicates: ConfigPath[] = [];
  const errors: ParseError[] = [];
  const tree = parseTree(jsonc, text, errors);
  if (errors[0]) throw toSyntaxError(jsonc, errors[0], text);
  return { value: toValue(tree!, [], { places, duplicates }), duplicates };
}

/** The parser calls itself for each level. */
function parseTree(jsonc: typeof Jsonc, text: string, errors: ParseError[]): Node | undefined {
  try {
    return jsonc.parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true });
  } catch (thrown) {
    throw thrown instanceof RangeError ? tooDeep(0) : thrown;
  }
}

function toValue(node: Node, path: ConfigPath, noting: { places: SourcePositions; duplicates: ConfigPath[] }): unknown {
  noting.places.noteValue(path, node.offset);
  if (path.length > MAX_DEPTH) throw tooDeep(node.offset);
  if (node.type === 'array') return node.children!.map((item, index) => toValue(item, [...path, index], noting));
  if (node.type !== 'object') return node.value;
  const entries = new Map<string, unknown>();
  for (const { offset, children } of node.children!) {
    const key = children![0]!.value as string;
    const inner = [...path, key];
    if (entries.has(key)) noting.duplicates.push(inner);
    noting.places.noteKey(inner, offset);
    entries.set(key, toValue(children![1]!, inner, noting));
  }
  return Object.fromEntries(entries);
}

function tooDeep(offset: number): ConfigSyntaxError {
  return new ConfigSyntaxError(offset, 'this is nested too deep', `Stay within ${MAX_DEPTH} levels.`);
}

/** Of the first error. */
function toSyntaxError(jsonc: typeof Jsonc, { error, offset }: ParseError, text: string): ConfigSyntaxError {
  const { path, isAtPropertyKey } = jsonc.getLocation(text, offset);
  const last = path.at(-1);
  const end = typeof last === 'number' ? ']' : '}';
  const at = (message: string, hint: string, from = offset): ConfigSyntaxError =>
    new ConfigSyntaxError(from, message, hint);
  const name = jsonc.printParseErrorCode(error);
  // Behind the last brace, too, the parser says that a key could be here.
  const atKey = path.length === 0 ? 'EndOfFileExpected' : 'PropertyNameExpected';
  switch (name === 'InvalidSymbol' && isAtPropertyKey ? atKey : name) {
    case 'PropertyNameExpected':
      if (offset === text.length) return notClosed(offset, '}');
      return at('a key is missing here', 'Write keys in double quotes: "key": value.');
    case 'CloseBraceExpected':
      return notClosed(offset, '}');
    case 'CloseBracketExpected':
      return notClosed(offset, ']');
    case 'ColonExpected':
      return at(`":" is missing after "${last}"`, 'Write "key": value.');
    case 'CommaExpected':
      return at(`"," or "${end}" is missing here`, 'Look at the end of the line above, too.');
    case 'EndOfFileExpected':
      return at('something follows the end of the object', 'Remove it, or the brace too many.');
    case 'UnexpectedEndOfComment':
      return at('this comment has no end', 'Close it with "*/".');
    case 'UnexpectedEndOfString':
      return at('this text has no end', 'Close it with a double quote on the same line.');
    case 'InvalidCharacter':
    case 'InvalidEscapeCharacter':
    case 'InvalidUnicode': {
      const bad = BAD_ESCAPE.exec(text.slice(offset).replaceAll('\\\\', '  '))?.index ?? 0;
      const hint = 'Write a backslash twice: "C:\\\\tools".';
      return at('this text has a character that JSON does not allow', hint, offset + bad);
    }
    case 'ValueExpected':
      return at('a value is missing here', 'Give one, or remove the key.');
    default:
      return at('this is not a value', 'Write text in double quotes; other values are numbers, true, false and null.');
  }
}

function notClosed(offset: number, end: string): ConfigSyntaxError {
  return new ConfigSyntaxError(offset, `the file ends before its "${end}"`, `Close what was opened with "${end}".`);
}
