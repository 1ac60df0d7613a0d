// Parses TOML, as Codex writes it. Loads its parser with the first such file. The parser gives no positions, so those of tables and of keys
// at the start of a line are found by scanning the text.
import { ConfigSyntaxError } from './parse-json.ts';
import type { ConfigPath, SourcePositions } from './source-positions.ts';

/** The part of smol-toml that is used. */
interface TomlParser {
  parse(text: string): Record<string, unknown>;
}

interface TomlError extends Error {
  /** Both start at 1. */
  line: number;
  column: number;
}

const TABLE = /^\s*(\[[^[\]]+\])\s*(?:#.*)?$/;
const KEY = /^(\s*)((?:[\w.-]|"[^"]*"|'[^']*')+)\s*=\s*/;

export function parseToml(text: string, places: SourcePositions): unknown {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  const toml = require('smol-toml') as TomlParser;
  const value = parse(toml, text);
  notePlaces(toml, text, places);
  return toPlain(value);
}

/** Takes only the first line of the message, as the others quote the file. */
function parse(toml: TomlParser, text: string): unknown {
  try {
    return toml.parse(text);
  } catch (thrown) {
    const { message, line, column } = thrown as TomlError;
    const [said = ''] = message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new ConfigSyntaxError(offsetOf(text, line, column), said, 'Check quotes, brackets and equals signs here.');
  }
}

function notePlaces(toml: TomlParser, text: string, places: SourcePositions): void {
  let table: ConfigPath = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const [, head] = TABLE.exec(line) ?? [];
    const [whole = '', indent = '', key] = KEY.exec(line) ?? [];
    if (head !== undefined) {
      table = pathIn(toml, head);
      places.noteKey(table, offset + line.indexOf('['));
    } else if (key !== undefined) {
      const path = [...table, ...pathIn(toml, `${key} = {}`)];
      places.noteKey(path, offset + indent.length);
      places.noteValue(path, offset + whole.length);
    }
    offset += line.length + 1;
  }
}

/** The only path in a short text; empty if it is not TOML, such as a line of a longer value. */
function pathIn(toml: TomlParser, text: string): string[] {
  const path: string[] = [];
  try {
    let inner: unknown = toml.parse(text);
    while (typeof inner === 'object' && inner !== null && Object.keys(inner).length === 1) {
      const [[key, value]] = Object.entries(inner) as [[string, unknown]];
      path.push(key);
      inner = value;
    }
  } catch {
    return [];
  }
  return path;
}

/** Dates are used as text. */
function toPlain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]));
}

function offsetOf(text: string, line: number, column: number): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}
