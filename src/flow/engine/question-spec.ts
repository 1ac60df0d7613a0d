// A question as the author wrote it, its conversion to what is shown and asked, and the validation of its answer. Fields are built only when
// needed: a replay meets every question that was answered long ago, and shows only the last.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { requirePattern } from '../../kernel/form/pattern.ts';
import type { Choice, Prompt, PromptType, Validation } from '../../kernel/form/prompt.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { isStandardSchema, validateStandard } from '../../kernel/form/standard-schema.ts';
import { toJsonSchema } from '../../sdk/server/schema.ts';
import type { FormFields } from '../authoring/fields.ts';
import type { AnySchema, AskOptions, ChoiceOption } from '../authoring/options.ts';
import { checkAnswer } from '../question/check-answer.ts';
import { fingerprint, toMessageText, toQuestionPin } from '../question/question.ts';
import type { Catalogue, Complaint, Field, Kind, Words } from '../question/question.ts';
import { callAuthor, guarded, requireText, toMistake, toPlainValue } from './author-code.ts';

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

export function toQuestionField(spec: QuestionSpec, localization: Localization): Field {
  try {
    return readField(spec, localization);
  } catch (thrown) {
    throw toMistake(`the question ${spec.key}`, thrown);
  }
}

function readField(spec: QuestionSpec, localization: Localization): Field {
  const { options, kind } = spec;
  const prompt: Prompt = {
    type: TYPES[kind],
    message: toMessageText(toPromptMessage(spec), localization.catalogue, localization.locale),
  };
  if (typeof prompt.message !== 'string') requireText(prompt.message, `the question ${spec.key} with a message`);
  if (options.placeholder !== undefined) prompt.placeholder = options.placeholder;
  if (options.default !== undefined)
    prompt.defaultValue = toPlainValue(options.default, () => `the default of question ${spec.key}`);
  if (spec.choices) prompt.choices = spec.choices.map((option) => toChoice(option, spec.key));
  const validation = toValidation(spec);
  if (validation) prompt.validation = validation;
  if (kind === 'custom' && options.schema) prompt.schema = toSchema(options.schema, spec.key);
  const field: Field = { kind, prompt };
  if (options.label !== undefined) field.label = options.label;
  if (options.help !== undefined) field.help = options.help;
  return field;
}

function toPromptMessage({ key, options }: Pick<QuestionSpec, 'key' | 'options'>): Words {
  return options.message ?? options.label ?? toLabel(key);
}

/** `firstName` and `first_name` are "First name", `pears.count` is "Count (pears)". Ids of scopes stay as they are. */
export function toLabel(key: string): string {
  const scopes = key.replace(/#\d+$/, '').split('.');
  const words = scopes
    .pop()!
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .toLowerCase();
  const name = words.charAt(0).toUpperCase() + words.slice(1);
  return scopes.length > 0 ? `${name} (${scopes.join(', ')})` : name;
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

function toChoice(option: ChoiceOption, key: string): Choice {
  const what = () => `a choice of question ${key}`;
  if (typeof option !== 'object') return { value: toPlainValue(option, what), label: String(option) };
  const { label, hint } = option;
  const value = toPlainValue(option.value, what);
  if (label !== undefined) requireText(label, `${what()} with a label`);
  if (hint !== undefined) requireText(hint, `${what()} with a hint`);
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

/** A fingerprint of the text that a yes agrees to; undefined where the text does not matter. */
export function toConsentPin(spec: QuestionSpec): string | undefined {
  const matters = spec.kind === 'confirm' || spec.options.by === 'human';
  return matters ? guarded(`the question ${spec.key}`, () => fingerprint(toPromptMessage(spec))) : undefined;
}

type CheckedFlowAnswer =
  /** `raw` is for the journal, `value` for the body. */
  { value: unknown; raw: unknown; from: 'given' | 'default' } | { complaint: Complaint };

interface ValidationContext {
  localization: Localization;
  answers: Readonly<Record<string, unknown>>;
  /** A file or secret in the store, which was checked when it arrived. */
  stored: boolean;
}

/** A new answer and one from the journal get the same check: an old answer that breaks a new rule is asked again. */
export function validateFlowAnswer(
  raw: unknown,
  spec: QuestionSpec,
  circumstances: ValidationContext,
): CheckedFlowAnswer {
  const checked = circumstances.stored ? { value: raw, from: 'given' as const } : check(raw, spec, circumstances);
  if ('complaint' in checked) return checked;
  if (checked.value === undefined) return { value: undefined, raw: undefined, from: checked.from };
  const { options } = spec;
  const parts = spec.fields ? throughFields(checked.value, spec, circumstances) : { value: checked.value };
  const made = 'complaint' in parts ? parts : through(parts.value, options, { ...circumstances, of: spec.key });
  if ('complaint' in made) return made;
  return { value: made.value, raw: checked.value, from: checked.from };
}

function check(raw: unknown, spec: QuestionSpec, { localization }: ValidationContext) {
  const field = toQuestionField(spec, localization);
  const whole = spec.fields ? { ...field, fields: toQuestionFields(spec.fields, localization) } : field;
  // Only the schema of a custom question can throw.
  return spec.kind === 'custom'
    ? guarded(`the schema of question ${spec.key}`, () => checkAnswer(raw, whole))
    : checkAnswer(raw, whole);
}

type Made = { value: unknown } | { complaint: Complaint };

/** Applies the author's schema, then the author's `validate`. */
function through(value: unknown, options: QuestionOptions, context: ValidationContext & { of: string }): Made {
  const { answers, stored, of } = context;
  const { schema, validate } = options;
  let made = value;
  if (schema && !stored && isStandardSchema(schema)) {
    const name = `the schema of question ${of}`;
    const result = callAuthor(name, () => validateStandard(schema, value)) as StandardSchemaV1.Result<unknown>;
    const issue = guarded(name, () => result.issues && { error: result.issues[0]?.message ?? 'Invalid' });
    if (issue) return { complaint: toWords(issue, name) };
    made = guarded(name, () => (result as { value: unknown }).value);
  }
  if (validate === undefined) return { value: made };
  const name = `validate of question ${of}`;
  const said = callAuthor(name, () => validate(made, { answers }));
  if (said === undefined || said === null) return { value: made };
  return { complaint: toWords(said, name) };
}

/** What the author says is wrong, as it can be shown and kept. */
function toWords(said: unknown, name: string): Complaint {
  const { error, suggestion }: Complaint = guarded(name, () =>
    typeof said === 'string' ? { error: said } : { ...(said as Complaint) },
  );
  requireText(error ?? null, `${name} with an answer`);
  requireText(suggestion, `${name} with a suggestion`);
  return { error, ...(suggestion !== undefined && { suggestion }) };
}

function throughFields(value: unknown, { fields = {} }: QuestionSpec, circumstances: ValidationContext): Made {
  const made: Record<string, unknown> = {};
  const complaints: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) continue;
    const one = through(given, field.options, { ...circumstances, of: name });
    if ('complaint' in one) complaints.push(`${name}: ${one.complaint.error}`);
    else made[name] = one.value;
  }
  return complaints.length > 0 ? { complaint: { error: complaints.join('; ') } } : { value: made };
}
