// Checks an answer against the schema of its form, whether from a person on a page or from a model. Unambiguous input
// is converted first ("3" to 3, a title to its option); nothing is guessed or filled in.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';
import { checkFileValue } from './check-file-value.ts';
import { toSchemaFields } from './schema-field.ts';
import type { ChoicesField, SchemaField, NumberField, SecretField, TextField } from './schema-field.ts';
import { findOption } from './field-options.ts';
import type { FieldOption } from './field-options.ts';
import { matchesPattern } from './matches-pattern.ts';
import type { CheckedValue, AnswerProblem } from './answer-problem.ts';
import { hasFormat } from './text-format.ts';

export type ValidatedAnswer =
  | { content: JsonObject; problems?: undefined }
  | { problems: AnswerProblem[]; content?: undefined };

/** A form with one field may be answered without its name. */
export function validateAnswer(requestedSchema: unknown, given: unknown): ValidatedAnswer {
  const fields = toSchemaFields(requestedSchema);
  const only = fields.length === 1 ? fields[0]! : undefined;
  const answer = isObject(given) ? given : only && given !== undefined ? { [only.name]: given } : {};
  const content: [string, unknown][] = [];
  const problems: AnswerProblem[] = [];
  for (const field of fields) {
    const checked = checkField(field, Object.hasOwn(answer, field.name) ? answer[field.name] : undefined);
    if (!checked) continue;
    if ('value' in checked) content.push([field.name, checked.value]);
    else problems.push({ property: field.name, code: checked.code, limit: checked.limit });
  }
  for (const name of Object.keys(answer))
    if (!fields.some((field) => field.name === name))
      problems.push({ property: name, code: 'unknown', limit: undefined });
  return problems.length > 0 ? { problems } : { content: Object.fromEntries(content) };
}

/** Undefined if an optional field was left out. */
export function checkField(field: SchemaField, given: unknown): CheckedValue | undefined {
  if (given === undefined || given === null || given === '') return field.required ? { code: 'required' } : undefined;
  switch (field.kind) {
    case 'text':
    case 'secret':
      return checkText(field, given);
    case 'number':
      return checkNumber(field, given);
    case 'boolean':
      return checkBoolean(given);
    case 'choice':
      return checkChoice(field.options, given);
    case 'choices':
      return checkChoices(field, given);
    case 'file':
      return checkFileValue(field, given);
    case 'json':
      return { value: given };
  }
}

function checkText(field: TextField | SecretField, given: unknown): CheckedValue {
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') return { code: 'text' };
  const text = String(given);
  const length = lengthOf(text);
  if (length < (field.minLength ?? 0)) return { code: 'tooShort', limit: field.minLength };
  if (length > (field.maxLength ?? Infinity)) return { code: 'tooLong', limit: field.maxLength };
  const format = field.kind === 'text' ? field.format : undefined;
  if (format && !hasFormat(format, text)) return { code: format === 'date-time' ? 'dateTime' : format };
  if (field.pattern !== undefined && matchesPattern(field.pattern, text) === false)
    return { code: 'pattern', limit: field.pattern };
  return { value: text };
}

function checkNumber({ integer, minimum, maximum }: NumberField, given: unknown): CheckedValue {
  const number = typeof given === 'string' ? readNumber(given, integer) : given;
  if (typeof number !== 'number' || !Number.isFinite(number)) return { code: integer ? 'integer' : 'number' };
  if (integer && !Number.isSafeInteger(number)) return { code: 'integer' };
  if (number < (minimum ?? -Infinity)) return { code: 'tooSmall', limit: minimum };
  if (number > (maximum ?? Infinity)) return { code: 'tooLarge', limit: maximum };
  return { value: number };
}

/** Many people write a decimal comma. Before three digits it may separate thousands, so it is refused there. */
function readNumber(text: string, integer: boolean): number | undefined {
  const trimmed = text.trim().replace(/^\u2212/, '-');
  const plain = integer ? trimmed : trimmed.replace(/^([+-]?\d+),(\d{1,2}|\d{4,})$/, '$1.$2');
  const form = integer ? /^[+-]?\d+$/ : /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
  return form.test(plain) ? Number(plain) : undefined;
}

function checkBoolean(given: unknown): CheckedValue {
  if (typeof given === 'boolean') return { value: given };
  const word = typeof given === 'string' ? given.trim().toLowerCase() : '';
  if (word === 'true' || word === 'yes') return { value: true };
  return word === 'false' || word === 'no' ? { value: false } : { code: 'boolean' };
}

function checkChoice(options: readonly FieldOption[], given: unknown): CheckedValue {
  const option = findOption(options, given);
  return option ? { value: option.value } : { code: 'choice', limit: toList(options) };
}

function checkChoices(
  { options, minItems, maxItems, required }: ChoicesField,
  given: unknown,
): CheckedValue | undefined {
  const list = (Array.isArray(given) ? given : [given]) as unknown[];
  const found = list.map((one) => findOption(options, one));
  if (found.includes(undefined)) return { code: 'choice', limit: toList(options) };
  const values = [...new Set(found.map((option) => option!.value))];
  if (values.length === 0 && !required) return undefined;
  if (values.length < (minItems ?? 0)) return { code: 'tooFew', limit: minItems };
  if (values.length > (maxItems ?? Infinity)) return { code: 'tooMany', limit: maxItems };
  return { value: values };
}

const LISTED = 12;

function toList(options: readonly FieldOption[]): string {
  const names = options.slice(0, LISTED).map(({ title }) => title);
  return names.join(', ') + (options.length > LISTED ? ', …' : '');
}

/** Counts code points, as JSON Schema does. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
