// What a tool takes, as people type it: the help of one tool, a short form for lists, and what was probably meant by an argument that it does not know.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { toTable } from '../../kernel/command/table.ts';
import { suggest } from '../../kernel/text/suggest.ts';

interface ToolArgument {
  name: string;
  type: string;
  isRequired: boolean;
  about: string;
}

/** Those that are required come first. */
function argumentsIn(schema: unknown): ToolArgument[] {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed = new Set(Array.isArray(required) ? required : []);
  const all = Object.entries(isObject(properties) ? properties : {}).map(([name, of]): ToolArgument => {
    const { description } = isObject(of) ? of : {};
    const about = typeof description === 'string' ? description : '';
    return { name, type: typeOf(of), isRequired: needed.has(name), about };
  });
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

const MAX_CHOICES = 6;

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'any';
  const { enum: choices, type, const: only } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MAX_CHOICES).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    return shown.join('|') + (choices.length > MAX_CHOICES ? '|…' : '');
  }
  const types = [type].flat().filter((one) => typeof one === 'string');
  return types.length === 0 ? 'any' : types.join('|');
}

/** `query, limit?` */
export function toArgumentNames(schema: unknown): string {
  return argumentsIn(schema)
    .map(({ name, isRequired }) => (isRequired ? name : `${name}?`))
    .join(', ');
}

export function toToolHelp({ name, description, inputSchema }: JsonObject): string[] {
  const rows = argumentsIn(inputSchema).map(({ name: argument, type, isRequired, about }) => [
    `--arg ${argument}=…`,
    isRequired ? `${type}, required` : type,
    about,
  ]);
  const said = typeof description === 'string' ? description.trim().split('\n') : [];
  return [
    String(name),
    ...said.map((line) => `  ${line}`),
    '',
    ...(rows.length === 0
      ? ['It takes no arguments that its schema names.']
      : ['Arguments', ...toTable(rows, { indent: '  ' })]),
  ];
}

/** For arguments that the schema does not name. */
export function meantArguments(given: JsonObject, schema: unknown): string[] {
  const known = argumentsIn(schema).map(({ name }) => name);
  if (known.length === 0) return [];
  return Object.keys(given).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = suggest(name, known);
    const takes = `It takes ${toArgumentNames(schema)}.`;
    return [`The tool names no argument "${name}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} ${takes}`];
  });
}
