// Changes servers in TOML by ranges of the text: the tables and the lines of a server are cut out, and its new tables put in their place. No library
// writes TOML without losing comments; whether the result is right is checked by reading it (client-edit.ts).
import { loadTomlParser, pathInToml } from '../../../config/read/toml-parser.ts';
import { lineEndOf } from './splice.ts';
import type { ClientEdit } from './splice.ts';

/** A header with what follows it, or a line `key = value`. */
interface TomlPart {
  path: string[];
  from: number;
  to: number;
  isTable: boolean;
}

export function spliceToml(text: string, { key, remove, add }: ClientEdit): string {
  const parts = partsOf(text);
  const isOf = ({ path }: TomlPart): boolean =>
    path.length > key.length && key.every((one, index) => path[index] === one) && remove.includes(path[key.length]!);
  const tables = parts.filter((part) => part.isTable && isOf(part));
  const lines = parts.filter((part) => !part.isTable && isOf(part) && !tables.some((table) => isWithin(part, table)));
  const cut = [...tables, ...lines].toSorted((a, b) => b.from - a.from);
  const at = tables.length > 0 ? Math.min(...tables.map(({ from }) => from)) : text.length;
  let changed = text;
  let place = at;
  for (const { from, to } of cut) {
    changed = changed.slice(0, from) + changed.slice(to);
    if (from < at) place -= to - from;
  }
  return insert(changed, place, add.map(([name, value]) => toTable([...key, name], value, lineEndOf(text))).join(''));
}

function isWithin({ from }: TomlPart, table: TomlPart): boolean {
  return from >= table.from && from < table.to;
}

/** With an empty line around it. */
function insert(text: string, at: number, lines: string): string {
  if (lines === '') return text;
  const end = lineEndOf(text);
  const before = text.slice(0, at);
  const after = text.slice(at);
  const gap = before === '' ? '' : before.endsWith('\n') ? (/\n\r?\n$/.test(before) ? '' : end) : end + end;
  return `${before}${gap}${lines}${after === '' || /^\r?\n/.test(after) ? '' : end}${after}`;
}

function toTable(path: readonly string[], value: Record<string, unknown>, end: string): string {
  const name = path.map((one) => (/^[\w-]+$/.test(one) ? one : JSON.stringify(one))).join('.');
  const lines = Object.entries(value).map(([key, one]) => `${key} = ${toValue(one)}`);
  return [`[${name}]`, ...lines, ''].join(end);
}

/** Texts of JSON are basic strings of TOML, but for one character. */
function toValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toValue).join(', ')}]`;
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\u007F', '\\u007f');
  return String(value);
}

/** In the order of the text. A table ends before the comments that stand directly above the next one. */
function partsOf(text: string): TomlPart[] {
  const toml = loadTomlParser();
  const parts: TomlPart[] = [];
  let table: string[] = [];
  for (const { from, to } of statementsOf(text)) {
    const line = text.slice(from, to);
    const [, head] = /^\s*\[\[?([^\n]*?)\]\]?\s*(?:#[^\n]*)?$/.exec(line.trimEnd()) ?? [];
    const isTable = /^\s*\[/.test(line) && head !== undefined;
    if (isTable) {
      table = pathInToml(toml, `[${head}]`);
      parts.push({ path: table, from, to: text.length, isTable });
    } else if (/^[^#=\n]+=/.test(line.trimStart())) {
      parts.push({ path: [...table, ...pathInToml(toml, `${line.slice(0, equalsIn(line))}= 0`)], from, to, isTable });
    }
  }
  return withEnds(parts, text);
}

function withEnds(parts: TomlPart[], text: string): TomlPart[] {
  const tables = parts.filter(({ isTable }) => isTable);
  tables.forEach((table, index) => {
    const next = tables[index + 1]?.from;
    if (next !== undefined) table.to = table.from + withoutLastComments(text.slice(table.from, next)).length;
  });
  return parts;
}

/** Without the lines at the end that are empty or comments. */
function withoutLastComments(text: string): string {
  let end = text.length;
  for (;;) {
    const start = text.lastIndexOf('\n', end - 2) + 1;
    if (start === 0 || !/^\s*(?:#.*)?\s*$/.test(text.slice(start, end))) return text.slice(0, end);
    end = start;
  }
}

/** The first equals sign outside of quotes. */
function equalsIn(line: string): number {
  const [before = ''] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'=])*/.exec(line) ?? [];
  return before.length;
}

const SCANNED = /"""[\s\S]*?"""+|'''[\s\S]*?'''+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}\n]/g;

/** Lines, but where a value goes on over several. */
function statementsOf(text: string): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let [from, depth] = [0, 0];
  for (const { 0: token, index } of text.matchAll(SCANNED)) {
    if (token === '[' || token === '{') depth++;
    if (token === ']' || token === '}') depth--;
    if (token !== '\n' || depth > 0) continue;
    found.push({ from, to: index + 1 });
    [from, depth] = [index + 1, 0];
  }
  if (from < text.length) found.push({ from, to: text.length });
  return found;
}
