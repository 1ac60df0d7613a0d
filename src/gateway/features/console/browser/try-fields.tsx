// The schema of a tool's arguments as fields, and what was filled in as arguments. The server checks them: here only what cannot be sent is refused.

export interface TryField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'choice' | 'lines' | 'json';
  /** Of a choice. */
  readonly options: readonly unknown[];
  readonly help: string;
  readonly isRequired: boolean;
}

type Schema = Record<string, unknown>;

const MAX_FIELDS = 100;
/** The field of a schema that does not say which arguments there are. */
const WHOLE: TryField = { name: 'arguments', kind: 'json', options: [], help: 'All arguments', isRequired: false };

/** `text`: JSON, unless it was cut. */
export function toFields(text: string): readonly TryField[] {
  const schema = parse(text);
  if (!isSchema(schema)) return [WHOLE];
  const { properties, required } = schema;
  if (!isSchema(properties)) return schema.type === 'object' && schema.additionalProperties !== true ? [] : [WHOLE];
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, of]) => toField(name, isSchema(of) ? of : {}, needed.has(name)));
}

function toField(name: string, schema: Schema, isRequired: boolean): TryField {
  const help = typeof schema.description === 'string' ? schema.description.slice(0, 500) : '';
  const [kind, options] = kindOf(schema);
  return { name, kind, options, help, isRequired };
}

function kindOf({ type, enum: values, items }: Schema): [TryField['kind'], readonly unknown[]] {
  if (Array.isArray(values)) return ['choice', values];
  if (type === 'boolean') return ['choice', [true, false]];
  if (type === 'string') return ['text', []];
  if (type === 'number' || type === 'integer') return ['number', []];
  if (type === 'array' && isSchema(items) && items.type === 'string' && !items.enum) return ['lines', []];
  return ['json', []];
}

/** What was left empty is left out. A text says what cannot be sent. */
export function readArguments(fields: readonly TryField[], form: FormData): Record<string, unknown> | string {
  const args: [string, unknown][] = [];
  for (const field of fields) {
    const text = String(form.get(field.name) ?? '');
    if (text === '') continue;
    const value = readField(field, text);
    if (value === undefined) return `${field.name}: this is not ${field.kind === 'number' ? 'a number' : 'JSON'}.`;
    if (field === WHOLE) return isSchema(value) ? value : 'Arguments are an object.';
    args.push([field.name, value]);
  }
  return Object.fromEntries(args);
}

function readField({ kind, options }: TryField, text: string): unknown {
  if (kind === 'choice') return options[Number(text)];
  if (kind === 'text') return text;
  if (kind === 'lines') return text.split(/\r?\n/).filter((line) => line !== '');
  if (kind === 'json') return parse(text);
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
