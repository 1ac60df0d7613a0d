// What is wrong with an entry of a list, as the official clients judge: they refuse the whole list for one such entry. Only what all of them refuse
// counts, so that no entry is lost that a client would have taken.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { ListArea } from '../../protocol/methods.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => typeof value === 'number';
const isOneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(value as string);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Members that are not named may have any value; one that is named may be missing unless it is required. */
const isRecord =
  (members: Record<string, Check>, required: readonly string[] = []): Check =>
  (value) =>
    isObject(value) && required.every((name) => value[name] !== undefined) && faultIn(value, members) === undefined;

const ICON = { src: isText, mimeType: isText, sizes: isListOf(isText), theme: isOneOf('light', 'dark') };
const ANY = {
  title: isText,
  description: isText,
  icons: isListOf(isRecord(ICON, ['src'])),
  _meta: isObject as Check,
};
const HINTS = { readOnlyHint: isFlag, destructiveHint: isFlag, idempotentHint: isFlag, openWorldHint: isFlag };
const isSchema: Check = (value) => (typeof value === 'object' && value !== null) || isFlag(value);
const hasSchemas: Check = (value) => isObject(value) && Object.values(value).every(isSchema);
const INPUT = { type: isOneOf('object'), properties: hasSchemas, required: isListOf(isText) };
const AUDIENCE = { audience: isListOf(isOneOf('user', 'assistant')), priority: isNumber, lastModified: isText };
const RESOURCE = { ...ANY, name: isText, mimeType: isText, annotations: isRecord(AUDIENCE) };
const ARGUMENT = { name: isText, description: isText, required: isFlag };

const MEMBERS: Record<ListArea, Record<string, Check>> = {
  tools: {
    ...ANY,
    name: isText,
    inputSchema: isRecord(INPUT, ['type']),
    outputSchema: isRecord({ $schema: isText }),
    annotations: isRecord({ title: isText, ...HINTS }),
    execution: isRecord({ taskSupport: isOneOf('required', 'optional', 'forbidden') }),
  },
  prompts: { ...ANY, name: isText, arguments: isListOf(isRecord(ARGUMENT, ['name'])) },
  resources: { ...RESOURCE, uri: isText, size: isNumber },
  resourceTemplates: { ...RESOURCE, uriTemplate: isText },
};

const REQUIRED: Record<ListArea, readonly string[]> = {
  tools: ['name', 'inputSchema'],
  prompts: ['name'],
  resources: ['name', 'uri'],
  resourceTemplates: ['name', 'uriTemplate'],
};

/** The entry without members that are null, which means that they are missing; the same object if there are none. */
export function withoutNulls(area: ListArea, entry: JsonObject): JsonObject {
  const names = Object.keys(MEMBERS[area]).filter((name) => entry[name] === null);
  if (names.length === 0) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)));
}

/** The tool with objects in place of the schemas `true` and `false`, for which official clients refuse a list; the same object if there are none. */
export function withSchemaObjects(entry: JsonObject): JsonObject {
  const { inputSchema } = entry;
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined;
  if (!isObject(properties) || !Object.values(properties).some(isFlag)) return entry;
  const toSchema = (value: unknown): unknown => (isFlag(value) ? (value ? {} : { not: {} }) : value);
  const changed = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, toSchema(value)]));
  return { ...entry, inputSchema: { ...(inputSchema as JsonObject), properties: changed } };
}

/** The name of the member that is missing or wrong; undefined if the entry is well-formed. */
export function malformedIn(area: ListArea, entry: JsonObject): string | undefined {
  return REQUIRED[area].find((name) => entry[name] === undefined) ?? faultIn(entry, MEMBERS[area]);
}

function faultIn(value: JsonObject, members: Record<string, Check>): string | undefined {
  for (const [name, check] of Object.entries(members)) {
    const member = value[name];
    if (member !== undefined && !check(member)) return name;
  }
  return undefined;
}
