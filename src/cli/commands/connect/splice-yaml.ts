// Changes servers in YAML. The document is parsed only for the places of its nodes; lines are cut out and put in, as writing the document again would
// change quotes, indents and comments everywhere.
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type { Document, Node, YAMLMap, YAMLSeq } from 'yaml';
import { lineEndOf } from './splice.ts';
import type { ClientEdit } from './splice.ts';

interface TextRange {
  from: number;
  to: number;
}

/** A server in the text: its lines, and where its key or dash stands. */
interface Item extends TextRange {
  name: string;
  indent: number;
}

export function spliceYaml(text: string, edit: ClientEdit): string {
  const yaml = createRequire(import.meta.url)('yaml') as typeof Yaml;
  const document = yaml.parseDocument(text, { prettyErrors: false, merge: true });
  const block = document.getIn(edit.key, true) as Node | null | undefined;
  const isFilled = (yaml.isMap(block) || yaml.isSeq(block)) && block.items.length > 0;
  if (!isFilled) return withNewBlock(text, { edit, document, yaml });
  if (block.flow) return withFlow(text, block, edit);
  const items = yaml.isMap(block) ? itemsOfMap(text, block) : itemsOfList(text, block);
  const added = toLines(edit, items[0]!.indent, { yaml, text });
  let changed = text;
  for (const { from, to, name } of items.toReversed())
    if (edit.remove.includes(name)) changed = changed.slice(0, from) + changed.slice(to);
  return changed.slice(0, items[0]!.from) + added + changed.slice(items[0]!.from);
}

/** Where there is no server yet: in place of an empty block, else at the end of the file. */
function withNewBlock(
  text: string,
  { edit, document, yaml }: { edit: ClientEdit; document: Document; yaml: typeof Yaml },
): string {
  const { key } = edit;
  if (key.length > 1) throw new Error('it has no block of servers');
  const end = lineEndOf(text);
  const lines = toLines(edit, edit.isList ? 0 : 2, { yaml, text });
  const pair = yaml.isMap(document.contents)
    ? document.contents.items.find((one) => String(one.key) === key[0])
    : undefined;
  if (!pair) return `${text}${text === '' || text.endsWith('\n') ? '' : end}${key[0]}:${end}${lines}`;
  const from = (pair.key as Node).range![1];
  const to = Math.max((pair.value as Node | null)?.range?.[1] ?? 0, text.indexOf(':', from) + 1);
  const rest = text.slice(to);
  const line = rest.slice(0, rest.search(/\r?\n|$/));
  return `${text.slice(0, text.indexOf(':', from) + 1)}${line}${end}${lines}${rest.slice(line.length).replace(/^\r?\n/, '')}`;
}

/** JSON is YAML, too; the text between the braces is replaced. */
function withFlow(text: string, block: YAMLMap | YAMLSeq, { add, remove, isList }: ClientEdit): string {
  const value: unknown = block.toJSON();
  const kept = isList
    ? [...add.map(([, entry]) => entry), ...(value as { name: string }[]).filter(({ name }) => !remove.includes(name))]
    : Object.fromEntries([...add, ...Object.entries(value as object).filter(([name]) => !remove.includes(name))]);
  const [from, to] = block.range!;
  return text.slice(0, from) + JSON.stringify(kept) + text.slice(to);
}

function itemsOfMap(text: string, { items }: YAMLMap): Item[] {
  return items.map(({ key, value }) => {
    const at = (key as Node).range![0];
    const end = (value as Node | null)?.range?.[1] ?? (key as Node).range![1];
    return { name: String(key), indent: columnOf(text, at), ...linesOf(text, at, end) };
  });
}

function itemsOfList(text: string, { items }: YAMLSeq): Item[] {
  return items.map((item) => {
    const { range } = item as Node;
    const dash = text.lastIndexOf('-', range![0]);
    const { name } = (item as Node).toJSON() as { name?: unknown };
    return { name: String(name), indent: columnOf(text, dash), ...linesOf(text, dash, range![1]) };
  });
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}

/** Whole lines. */
function linesOf(text: string, at: number, end: number): TextRange {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const last = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  return { from, to: last === 0 ? text.length : last };
}

function toLines(
  { add, isList }: ClientEdit,
  indent: number,
  { yaml, text }: { yaml: typeof Yaml; text: string },
): string {
  const value = isList ? add.map(([, entry]) => entry) : Object.fromEntries(add);
  if (add.length === 0) return '';
  const lines = yaml.stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  return lines.map((line) => `${' '.repeat(indent)}${line}${lineEndOf(text)}`).join('');
}
