// A question as the author wrote it, and its conversion to the fields that are shown and checked. Fields are built only when needed: a
// replay meets every question that was answered long ago, and shows only the last.
import { isStandardSchema, toJsonSchema } from '../../server/schema.ts';
import type { AnySchema, AskOptions, ChoiceOption } from '../authoring/options.ts';
import type { FormFields } from '../authoring/fields.ts';
import { fingerprint, toMessageText } from '../authoring/messages.ts';
import type { Catalogue, Words } from '../authoring/messages.ts';
import { toQuestionPin } from '../question/pin.ts';
import type { Choice, Prompt, PromptType, Validation } from '../../protocol/form/prompt.ts';
import { requirePattern } from '../../protocol/form/pattern.ts';
import type { Field, Kind } from '../question/question.ts';
import type { JsonObject } from '../../protocol/message.ts';

/** The options of all kinds of questions. */
export interface QuestionOptions extends AskOptions<unknown> {
  min?: number | string;
  max?: number | string;
  pattern?: string | RegExp;
  format?: 'email' | 'uri';
  integer?: boolean;
  maxBytes?: number;
  accept?: string[];
  schema?: AnySchema;
  secret?: boolean;
}

/** The person whom the author asks, and how. */
export interface AskedPerson {
  principal: string;
  remindMs?: number | undefined;
  orCaller?: true | undefined;
  handOver?: readonly string[] | undefined;
}

export interface QuestionSpec {
  /** With `#n` from its second use on. */
  key: string;
  kind: Kind;
  options: QuestionOptions;
  choices?: readonly ChoiceOption[] | undefined;
  fields?: FormFields | undefined;
  /** The person who is asked, if not the caller. */
  person?: AskedPerson | undefined;
  /** The number of notes that came before it. */
  notes?: number | undefined;
  /** Keys that were used more often than this one, with their counts. */
  loops?: string | undefined;
}

export interface Localization {
  catalogue: Catalogue | undefined;
  locale: string | undefined;
}

const TYPES: Record<Kind, PromptType> = {
  text: 'text',
  choice: 'choice',
  confirm: 'confirm',
  number: 'number',
  date: 'date',
  file: 'file',
  custom: 'custom',
  choices: 'custom',
  form: 'custom',
};

function toPromptMessage({ key, options }: Pick<QuestionSpec, 'key' | 'options'>): Words {
  return options.message ?? options.label ?? toLabel(key);
}

/** A fingerprint of the text that a yes agrees to; undefined where the text does not matter. */
export function toConsentPin(spec: QuestionSpec): string | undefined {
  const matters = spec.kind === 'confirm' || spec.options.by === 'human';
  return matters ? fingerprint(toPromptMessage(spec)) : undefined;
}

export function toQuestionField(spec: QuestionSpec, localization: Localization): Field {
  const { options, kind } = spec;
  const prompt: Prompt = {
    type: TYPES[kind],
    message: toMessageText(toPromptMessage(spec), localization.catalogue, localization.locale),
  };
  if (options.placeholder !== undefined) prompt.placeholder = options.placeholder;
  if (options.default !== undefined) prompt.defaultValue = options.default;
  if (spec.choices) prompt.choices = spec.choices.map(toChoice);
  const validation = toValidation(spec);
  if (validation) prompt.validation = validation;
  if (kind === 'custom' && options.schema) prompt.schema = toSchema(options.schema, spec.key);
  const field: Field = { kind, prompt };
  if (options.label !== undefined) field.label = options.label;
  if (options.help !== undefined) field.help = options.help;
  return field;
}

export function toQuestionFields(fields: FormFields, localization: Localization): Record<string, Field> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, { kind, options, choices }]) => [
      key,
      toQuestionField({ key, kind, options, choices }, localization),
    ]),
  );
}

/** The pin of the question as the body asks it now. */
export function pinOf(spec: QuestionSpec, localization: Localization): string {
  const fields = spec.fields && toQuestionFields(spec.fields, localization);
  return toQuestionPin({ ...toQuestionField(spec, localization), fields }, spec.loops);
}

/** `firstName` and `first_name` are "First name", `pears.count` is "Pears count". */
export function toLabel(key: string): string {
  const words = key
    .replace(/#\d+$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function toValidation({ kind, options }: QuestionSpec): Validation | undefined {
  if (kind === 'form') return undefined;
  const validation: Validation = {};
  // A confirmation is always answered or declined; MCP Flow has no rules for it.
  if (kind !== 'confirm' && options.required !== false) validation.required = true;
  if (options.pattern !== undefined) validation.pattern = toPattern(options.pattern);
  const { min, max, format, integer, maxBytes, accept } = options;
  if (min !== undefined) validation.min = min;
  if (max !== undefined) validation.max = max;
  if (format !== undefined) validation.format = format;
  if (integer !== undefined) validation.integer = integer;
  if (maxBytes !== undefined) validation.maxBytes = maxBytes;
  if (accept !== undefined) validation.accept = accept;
  return isEmpty(validation) ? undefined : validation;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

function toPattern(pattern: string | RegExp): string {
  const source = typeof pattern === 'string' ? pattern : pattern.source;
  requirePattern(source);
  return source;
}

function toChoice(option: ChoiceOption): Choice {
  if (typeof option !== 'object') return { value: option, label: String(option) };
  const { value, label, hint } = option;
  return { value, label: label ?? (typeof value === 'string' ? value : JSON.stringify(value)), ...(hint && { hint }) };
}

const schemas = new WeakMap<object, JsonObject>();

/** Cached, because some libraries convert slowly. */
function toSchema(schema: AnySchema, key: string): JsonObject {
  if (!isStandardSchema(schema)) return schema;
  const known = schemas.get(schema);
  if (known) return known;
  const json = toJsonSchema(schema, { side: 'input', option: `schema of question ${key}` });
  schemas.set(schema, json);
  return json;
}
