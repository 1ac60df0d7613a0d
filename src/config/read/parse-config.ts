// Parses a configuration, with the position of every key and value. JSON may have comments and trailing commas. YAML and TOML are
// recognized by the name of the file, or by its beginning.
import type * as Yaml from 'yaml';
import type { Document, ParsedNode } from 'yaml';
import { isObject } from '../../kernel/message.ts';
import { SourcePositions, ConfigProblems } from '../check/config-problems.ts';
import type { ConfigPath } from '../check/config-problems.ts';
import { parseJson, ConfigSyntaxError } from './parse-json.ts';
import { loadTomlParser, pathInToml } from './toml-parser.ts';
import type { TomlParser } from './toml-parser.ts';

interface ParsedConfig {
  /** Undefined if the text cannot be parsed. */
  value: Record<string, unknown> | undefined;
  places: SourcePositions;
  problems: ConfigProblems;
}

const TABLE = /^\s*(\[[^[\]]+\])\s*(?:#.*)?$/;
const KEY = /^(\s*)((?:[\w.-]|"[^"]*"|'[^']*')+)\s*=\s*/;

export function parseConfig(text: string, path: string): ParsedConfig {
  const places = new SourcePositions(text);
  const problems = new ConfigProblems(places);
  try {
    return { value: toObject(read(text, path, { places, problems }), problems), places, problems };
  } catch (thrown) {
    if (!(thrown instanceof ConfigSyntaxError)) throw thrown;
    problems.ofText(places.at(thrown.offset), thrown.message, thrown.hint);
    return { value: undefined, places, problems };
  }
}

function read(
  text: string,
  path: string,
  { places, problems }: { places: SourcePositions; problems: ConfigProblems },
): unknown {
  if (isToml(text, path)) return parseToml(text, places);
  return isYaml(text, path) ? parseYaml(text, places) : readJson(text, places, problems);
}

function isToml(text: string, path: string): boolean {
  return (
    /\.toml$/i.test(path) ||
    (!/\.(jsonc?|ya?ml)$/i.test(path) && /^\s*\[[\w."-]+\]\s*$/m.test(text) && !/^\s*\{/.test(text))
  );
}

/** By the name of the file, else by its first character. */
function isYaml(text: string, path: string): boolean {
  if (/\.ya?ml$/i.test(path)) return true;
  return !/\.jsonc?$/i.test(path) && !/^\s*[{/]/.test(text);
}

/**
 * TOML, as Codex writes it. The parser gives no positions, so those of tables and of keys at the start of a line are found by scanning the
 * text.
 */
function parseToml(text: string, places: SourcePositions): unknown {
  const toml = loadTomlParser();
  const value = readToml(toml, text);
  noteTomlPlaces(toml, text, places);
  return toPlain(value);
}

/** Loads the parser with the first file that needs it, as most configurations are JSON. */
function loadParser(name: 'yaml' | 'smol-toml'): unknown {
  return process.getBuiltinModule('node:module').createRequire(import.meta.url)(name);
}

interface TomlError extends Error {
  /** Both start at 1. */
  line: number;
  column: number;
}

/** Takes only the first line of the message, as the others quote the file. */
function readToml(toml: TomlParser, text: string): unknown {
  try {
    return toml.parse(text);
  } catch (thrown) {
    const { message, line, column } = thrown as TomlError;
    const [said = ''] = message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new ConfigSyntaxError(offsetOf(text, line, column), said, 'Check quotes, brackets and equals signs here.');
  }
}

function offsetOf(text: string, line: number, column: number): number {
  const before = text.split('\n').slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}

function noteTomlPlaces(toml: TomlParser, text: string, places: SourcePositions): void {
  let table: ConfigPath = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const [, head] = TABLE.exec(line) ?? [];
    const [whole = '', indent = '', key] = KEY.exec(line) ?? [];
    if (head !== undefined) {
      table = pathInToml(toml, head);
      places.noteKey(table, offset + line.indexOf('['));
    } else if (key !== undefined) {
      const path = [...table, ...pathInToml(toml, `${key} = {}`)];
      places.noteKey(path, offset + indent.length);
      places.noteValue(path, offset + whole.length);
    }
    offset += line.length + 1;
  }
}

/** Dates are used as text. */
function toPlain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]));
}

/** YAML 1.2. */
function parseYaml(text: string, places: SourcePositions): unknown {
  const yaml = loadParser('yaml') as typeof Yaml;
  const document = yaml.parseDocument(text, { prettyErrors: false, merge: true });
  const [error] = document.errors;
  if (error) {
    const hint = error.code === 'DUPLICATE_KEY' ? 'Keep one of the two.' : 'Check indentation, quotes and colons here.';
    throw new ConfigSyntaxError(error.pos[0], lowerFirst(error.message), hint);
  }
  noteYamlPlaces(document.contents, [], { yaml, places });
  return toValue(document);
}

function noteYamlPlaces(node: unknown, path: ConfigPath, noting: { yaml: typeof Yaml; places: SourcePositions }): void {
  const { yaml, places } = noting;
  const offset = (node as ParsedNode | null)?.range?.[0];
  if (offset !== undefined) places.noteValue(path, offset);
  if (yaml.isSeq(node)) node.items.forEach((item, index) => noteYamlPlaces(item, [...path, index], noting));
  if (!yaml.isMap(node)) return;
  for (const { key, value } of node.items) {
    const inner = [...path, yaml.isScalar(key) ? String(key.value) : String(key)];
    const keyOffset = (key as ParsedNode | null)?.range?.[0];
    if (keyOffset !== undefined) places.noteKey(inner, keyOffset);
    noteYamlPlaces(value, inner, noting);
  }
}

/** Aliases can multiply; the parser refuses those that grow too large. */
function toValue(document: Document): unknown {
  try {
    return document.toJS();
  } catch (thrown) {
    throw new ConfigSyntaxError(0, lowerFirst((thrown as Error).message), 'Use fewer aliases.');
  }
}

function lowerFirst(message: string): string {
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`.replace(/\.$/, '');
}

function readJson(text: string, places: SourcePositions, problems: ConfigProblems): unknown {
  if (/^\s*$/.test(text)) throw new ConfigSyntaxError(0, 'the file is empty', 'Start with { "mcpServers": { … } }.');
  const { value, duplicates } = parseJson(text, places);
  for (const path of duplicates) {
    problems.ofKey(path, { message: 'this key is here twice', hint: 'Keep one of the two.' });
  }
  return value;
}

function toObject(value: unknown, problems: ConfigProblems): Record<string, unknown> | undefined {
  if (isObject(value)) return value;
  problems.error([], 'a configuration is an object', 'Start with { "mcpServers": { … } }.');
  return undefined;
}
