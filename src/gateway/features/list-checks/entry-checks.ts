// What may be wrong with one entry of a list: it is malformed, has hidden characters or an unsafe icon, or looks suspicious.
import { copyNumbers, mapMembers } from '../../../kernel/raw/exact-numbers.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ListArea } from '../../../kernel/methods.ts';
import { hasCovert, hasHidden, withoutHidden } from '../../../kernel/text/hidden.ts';
import { suspiciousIn } from '../../../kernel/text/suspicious.ts';
import type { TextFinding } from '../../../kernel/text/suspicious.ts';

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

interface EntryShape {
  /** The member that is its name. */
  namedBy: string;
  required: readonly string[];
  members: Record<string, Check>;
}

/**
 * What entries have to look like, as the official clients judge: they refuse the whole list for one that does not. Only what all of them refuse
 * counts, so that no entry is lost that a client would have taken.
 */
const SHAPES: Record<ListArea, EntryShape> = {
  tools: {
    namedBy: 'name',
    required: ['name', 'inputSchema'],
    members: {
      ...ANY,
      name: isText,
      inputSchema: isRecord(INPUT, ['type']),
      outputSchema: isRecord({ $schema: isText }),
      annotations: isRecord({ title: isText, ...HINTS }),
      execution: isRecord({ taskSupport: isOneOf('required', 'optional', 'forbidden') }),
    },
  },
  prompts: {
    namedBy: 'name',
    required: ['name'],
    members: { ...ANY, name: isText, arguments: isListOf(isRecord(ARGUMENT, ['name'])) },
  },
  resources: {
    namedBy: 'uri',
    required: ['name', 'uri'],
    members: { ...RESOURCE, uri: isText, size: isNumber },
  },
  resourceTemplates: {
    namedBy: 'uriTemplate',
    required: ['name', 'uriTemplate'],
    members: { ...RESOURCE, uriTemplate: isText },
  },
};

export function nameOf(area: ListArea, entry: JsonObject): string {
  return String(entry[SHAPES[area].namedBy]);
}

/** The entry without members that are null, which means that they are missing; the same object if there are none. */
export function withoutNulls(area: ListArea, entry: JsonObject): JsonObject {
  const names = Object.keys(SHAPES[area].members).filter((name) => entry[name] === null);
  if (names.length === 0) return entry;
  return copyNumbers(entry, Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name))));
}

/** The tool with objects in place of the schemas `true` and `false`, for which official clients refuse a list; the same object if there are none. */
export function withSchemaObjects(entry: JsonObject): JsonObject {
  const { inputSchema } = entry;
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined;
  if (!isObject(properties) || !Object.values(properties).some(isFlag)) return entry;
  const toSchema = (value: unknown): unknown => (isFlag(value) ? (value ? {} : { not: {} }) : value);
  const changed = mapMembers(properties, toSchema);
  return { ...entry, inputSchema: { ...(inputSchema as JsonObject), properties: changed } };
}

/** The name of the member that is missing or wrong; undefined if the entry is well-formed. */
export function malformedIn(area: ListArea, entry: JsonObject): string | undefined {
  const { required, members } = SHAPES[area];
  return required.find((name) => entry[name] === undefined) ?? faultIn(entry, members);
}

function faultIn(value: JsonObject, members: Record<string, Check>): string | undefined {
  for (const [name, check] of Object.entries(members)) {
    const member = value[name];
    if (member !== undefined && !check(member)) return name;
  }
  return undefined;
}

/** In a text they may be meant. In a name they only make it look like another one, or like the lines around it. */
const NOT_IN_NAMES = /[\t\n\r\u2028\u2029\u200b\u2060-\u2064\ufeff]/;

/**
 * The entry without hidden characters, at any depth; the same object if it has none. A name cannot be changed: undefined if the entry's own name,
 * or the name of an argument, has them.
 */
export function cleanEntry(area: ListArea, entry: JsonObject): JsonObject | undefined {
  const name = nameOf(area, entry);
  if (hasHidden(name) || NOT_IN_NAMES.test(name)) return undefined;
  const found = { inName: false };
  const clean = cleaned(entry, found) as JsonObject;
  return found.inName ? undefined : clean;
}

function cleaned(value: unknown, found: { inName: boolean }): unknown {
  if (typeof value === 'string') return withoutHidden(value);
  if (typeof value !== 'object' || value === null) return value;
  return mapMembers(value, (one, name) => {
    if (hasHidden(name)) found.inName = true;
    return cleaned(one, found);
  });
}

const ALLOWED = /^(?:https?:\/\/|data:image\/)/i;
const SVG = /^data:image\/svg/i;
const ACTIVE = /<script|<foreignobject|<iframe|<embed|<object|\son[a-z]+\s*=|javascript:|<!entity/i;

/**
 * Icons that a client may show are pictures from the web, and pictures in the definition itself. A picture that can run code, and an address of
 * another scheme, which would open a file or a program, are taken out. The same object if all icons are safe.
 */
export function withSafeIcons(entry: JsonObject): JsonObject {
  const { icons } = entry;
  if (!Array.isArray(icons)) return entry;
  const safe = icons.filter((icon) => isObject(icon) && isSafe(String(icon.src)));
  return safe.length === icons.length ? entry : { ...entry, icons: safe };
}

function isSafe(src: string): boolean {
  const address = src.trim();
  if (!ALLOWED.test(address)) return false;
  return !SVG.test(address) || !ACTIVE.test(decoded(address));
}

function decoded(address: string): string {
  const at = address.indexOf(',');
  const [head, body] = [address.slice(0, at), address.slice(at + 1)];
  const plain = body.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return /;base64/i.test(head) ? Buffer.from(plain, 'base64').toString('utf8') : plain;
}

type SoftFinding = TextFinding | 'hidden' | 'shadowing' | 'reserved-name' | 'look-alike';

/** Names that the gateway has for itself, and for the tools of its servers. */
const OWN_PREFIX = 'parley_';
const QUALIFIER = '__';
/** Shorter names of servers are in too many words. */
const MIN_SERVER = 3;

interface SoftContext {
  server: string;
  /** All servers of the gateway. */
  servers: readonly string[];
  /** Whether another name, of any server, can be taken for this one. */
  isLikeAnother: (name: string) => boolean;
}

/**
 * What looks suspicious in a definition and may be harmless: it is said in the log and in the status, and changes nothing. It works offline, on
 * the text alone.
 */
export function softFindings(name: string, entry: JsonObject, context: SoftContext): SoftFinding[] {
  const { server, servers, isLikeAnother } = context;
  const text = textsIn({ ...entry, name: '' }).join('\n');
  const lower = text.toLowerCase();
  const others = servers.filter((other) => other !== server && other.length >= MIN_SERVER);
  const found: SoftFinding[] = suspiciousIn(text);
  if (hasCovert(text) || hasCovert(name)) found.push('hidden');
  if (others.some((other) => lower.includes(`${other.toLowerCase()}${QUALIFIER}`))) found.push('shadowing');
  if ([OWN_PREFIX, ...servers.map((one) => `${one}${QUALIFIER}`)].some((one) => name.startsWith(one)))
    found.push('reserved-name');
  if (hasMixedScripts(name) || isLikeAnother(name)) found.push('look-alike');
  return found;
}

/** A Latin name with Greek or Cyrillic letters that look like Latin ones. */
function hasMixedScripts(name: string): boolean {
  return /[a-z]/i.test(name) && /[\u0370-\u03ff\u0400-\u052f]/.test(name);
}

/** All texts but that of the name. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 20) return [];
  return Object.values(value).flatMap((one) => textsIn(one, depth + 1));
}
