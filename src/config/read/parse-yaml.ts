// Parses YAML 1.2 with the positions of its keys and values. Loads the parser with the first such file, as most configurations are JSON.
import type * as Yaml from 'yaml';
import type { Document, ParsedNode } from 'yaml';
import { ConfigSyntaxError } from './parse-json.ts';
import type { ConfigPath, SourcePositions } from './source-positions.ts';

export function parseYaml(text: string, places: SourcePositions): unknown {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  const yaml = require('yaml') as typeof Yaml;
  const document = yaml.parseDocument(text, { prettyErrors: false, merge: true });
  const [error] = document.errors;
  if (error) {
    const hint = error.code === 'DUPLICATE_KEY' ? 'Keep one of the two.' : 'Check indentation, quotes and colons here.';
    throw new ConfigSyntaxError(error.pos[0], lowerFirst(error.message), hint);
  }
  notePlaces(document.contents, [], { yaml, places });
  return toValue(document);
}

function notePlaces(node: unknown, path: ConfigPath, noting: { yaml: typeof Yaml; places: SourcePositions }): void {
  const { yaml, places } = noting;
  const offset = (node as ParsedNode | null)?.range?.[0];
  if (offset !== undefined) places.noteValue(path, offset);
  if (yaml.isSeq(node)) node.items.forEach((item, index) => notePlaces(item, [...path, index], noting));
  if (!yaml.isMap(node)) return;
  for (const { key, value } of node.items) {
    const inner = [...path, yaml.isScalar(key) ? String(key.value) : String(key)];
    const keyOffset = (key as ParsedNode | null)?.range?.[0];
    if (keyOffset !== undefined) places.noteKey(inner, keyOffset);
    notePlaces(value, inner, noting);
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
