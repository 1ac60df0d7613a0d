// Reads the schema of a form into fields, for showing the form and checking its answer. Servers write schemas in many
// ways; an unknown kind is asked for as JSON, never left out.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';

export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';

interface Named {
  readonly name: string;
  /** The title, else the name. */
  readonly title: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly default: unknown;
}

export interface TextFieldRules {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string | undefined;
}

export interface TextField extends Named, TextFieldRules {
  readonly kind: 'text';
  readonly format: TextFormat | undefined;
  readonly multiline: boolean;
}

/** Asked only on a page, and never shown again. */
interface SecretField extends Named, TextFieldRules {
  readonly kind: 'secret';
}

export interface NumberField extends Named {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

interface BooleanField extends Named {
  readonly kind: 'boolean';
}

export interface FieldOption {
  readonly value: string | number | boolean;
  readonly title: string;
}

export interface ChoiceField extends Named {
  readonly kind: 'choice';
  readonly options: readonly FieldOption[];
}

export interface ChoicesField extends Named {
  readonly kind: 'choices';
  readonly options: readonly FieldOption[];
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
}

/** Answered with `{ name, mimeType, data }`, data in base64. Asked only on a page. */
export interface FileField extends Named {
  readonly kind: 'file';
  /** As in HTML, such as .pdf, image/*, text/csv; empty for any. */
  readonly accept: readonly string[];
  readonly maxBytes: number;
}

interface JsonField extends Named {
  readonly kind: 'json';
}

export type SchemaField =
  | TextField
  | SecretField
  | NumberField
  | BooleanField
  | ChoiceField
  | ChoicesField
  | FileField
  | JsonField;

/** The keyword for hints that JSON Schema lacks. */
const HINT = 'x-parley';
const DEFAULT_FILE_BYTES = 5 * 1024 * 1024;

const FORMATS = new Set<unknown>(['email', 'uri', 'date', 'date-time'] satisfies TextFormat[]);
/** Longer text gets more than one line. */
const LINE_LENGTH = 300;

export function toSchemaFields(requestedSchema: unknown): SchemaField[] {
  const properties = isObject(requestedSchema) ? requestedSchema['properties'] : undefined;
  if (!isObject(properties)) return [];
  const list = (requestedSchema as JsonObject)['required'];
  const required = new Set<unknown>(Array.isArray(list) ? list : []);
  return Object.entries(properties).map(([name, schema]) => toField(name, schema, required.has(name)));
}

/** Whether the answer may only come from a page: secrets and files do not belong into a conversation. */
export function isForPageOnly(requestedSchema: unknown): boolean {
  return toSchemaFields(requestedSchema).some(({ kind }) => kind === 'secret' || kind === 'file');
}

function toField(name: string, written: unknown, required: boolean): SchemaField {
  const schema = withoutNull(isObject(written) ? written : {});
  const named = {
    name,
    title: toText(schema['title']) ?? name,
    description: toText(schema['description']),
    required,
    default: schema['default'],
  };
  const options = toOptions(schema);
  if (options) return { ...named, kind: 'choice', options };
  switch (schema['type']) {
    case 'string':
      return toTextField(named, schema);
    case 'number':
    case 'integer':
      return {
        ...named,
        kind: 'number',
        integer: schema['type'] === 'integer',
        minimum: toNumber(schema['minimum']),
        maximum: toNumber(schema['maximum']),
      };
    case 'boolean':
      return { ...named, kind: 'boolean' };
    case 'array':
      return toChoices(named, schema);
    default:
      return schema[HINT] === 'file' ? toFileField(named, schema) : { ...named, kind: 'json' };
  }
}

function toTextField(named: Named, schema: JsonObject): TextField | SecretField {
  const { format } = schema;
  const rules = {
    minLength: toNumber(schema['minLength']),
    maxLength: toNumber(schema['maxLength']),
    pattern: toText(schema['pattern']),
  };
  if (format === 'password' || schema[HINT] === 'secret') return { ...named, ...rules, kind: 'secret' };
  const isLong = (rules.maxLength ?? 0) > LINE_LENGTH || String(named.default ?? '').includes('\n');
  return {
    ...named,
    ...rules,
    kind: 'text',
    format: FORMATS.has(format) ? (format as TextFormat) : undefined,
    multiline: schema[HINT] === 'multiline' || (isLong && format === undefined),
  };
}

function toChoices(named: Named, schema: JsonObject): ChoicesField | JsonField {
  const options = isObject(schema['items']) ? toOptions(schema['items']) : undefined;
  if (!options) return { ...named, kind: 'json' };
  const [minItems, maxItems] = [toNumber(schema['minItems']), toNumber(schema['maxItems'])];
  return { ...named, kind: 'choices', options, minItems, maxItems };
}

function toFileField(named: Named, schema: JsonObject): FileField {
  const accept = toText(schema['accept']) ?? '';
  return {
    ...named,
    kind: 'file',
    accept: accept.split(',').flatMap((one) => one.trim().toLowerCase() || []),
    maxBytes: toNumber(schema['maxBytes']) ?? DEFAULT_FILE_BYTES,
  };
}

/** Schema generators write an optional string as a string or null; a form simply omits it. */
function withoutNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return types.length === 1 ? { ...schema, type: types[0] } : schema;
  }
  if (!Array.isArray(anyOf) || type !== undefined) return schema;
  const others = anyOf.filter((one) => isObject(one) && one['type'] !== 'null') as JsonObject[];
  return others.length === 1 && anyOf.length === 2 ? { ...others[0], ...schema, anyOf: undefined } : schema;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** From enum with or without names, oneOf or anyOf with titles. Undefined if the schema is not a choice. */
function toOptions(schema: JsonObject): FieldOption[] | undefined {
  if (Array.isArray(schema['enum'])) return fromEnum(schema['enum'], schema['enumNames']);
  const titled = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(titled) || titled.length === 0) return undefined;
  const options = titled.flatMap((one) => {
    if (!isObject(one) || !isValue(one['const'])) return [];
    return [{ value: one['const'], title: toTitle(one['title'], one['const']) }];
  });
  return options.length === titled.length ? options : undefined;
}

function fromEnum(values: readonly unknown[], names: unknown): FieldOption[] {
  const titles: readonly unknown[] = Array.isArray(names) ? names : [];
  return values.flatMap((value, index) => (isValue(value) ? [{ value, title: toTitle(titles[index], value) }] : []));
}

function toTitle(title: unknown, value: FieldOption['value']): string {
  return typeof title === 'string' && title !== '' ? title : String(value);
}

function isValue(value: unknown): value is FieldOption['value'] {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Finds an option by its value, or by its title as a person or a model writes it. */
export function findOption(options: readonly FieldOption[], said: unknown): FieldOption | undefined {
  const same = options.find(({ value }) => value === said);
  if (same || (typeof said !== 'string' && typeof said !== 'number' && typeof said !== 'boolean')) return same;
  const text = String(said).trim();
  const written = options.find(({ value }) => String(value) === text) ?? options.find(({ title }) => title === text);
  if (written) return written;
  const lower = text.toLowerCase();
  const alike = options.filter(({ value, title }) => [String(value), title].some((one) => one.toLowerCase() === lower));
  return alike.length === 1 ? alike[0] : undefined; // two that differ only in case are ambiguous
}
