// Checks the value of a form field, the same for every channel. Nothing is converted: "5" is not a number here. What a channel
// reads generously is a pass of its own before (`readWritten`).
import { checkFileValue } from './check-file-value.ts';
import type { CheckedValue } from './answer-problem.ts';
import type { FieldOption } from './field-options.ts';
import { matchesPattern } from './pattern.ts';
import type { ChoicesField, NumberField, SchemaField, TextFormat, TextFieldRules } from './schema-field.ts';
import { hasFormat } from './text-format.ts';

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
      return typeof given === 'boolean' ? { value: given } : { code: 'boolean' };
    case 'choice':
      return isOption(field.options, given) ? { value: given } : { code: 'choice', limit: toList(field.options) };
    case 'choices':
      return checkChoices(field, given);
    case 'file':
      return checkFileValue(field, given);
    case 'json':
      return { value: given };
  }
}

/** NUL is refused: databases and C libraries cut or refuse a text that has one. */
export function checkText(rules: TextFieldRules & { format?: TextFormat | undefined }, given: unknown): CheckedValue {
  if (typeof given !== 'string' || given.includes('\0')) return { code: 'text' };
  const { minLength, maxLength, format, pattern } = rules;
  const length = lengthOf(given);
  if (length < (minLength ?? 0)) return { code: 'tooShort', limit: minLength };
  if (length > (maxLength ?? Infinity)) return { code: 'tooLong', limit: maxLength };
  if (format && !hasFormat(format, given)) return { code: format === 'date-time' ? 'dateTime' : format };
  if (pattern !== undefined && matchesPattern(pattern, given) === false) return { code: 'pattern', limit: pattern };
  return { value: given };
}

export function checkNumber(
  { integer, minimum, maximum }: Pick<NumberField, 'integer' | 'minimum' | 'maximum'>,
  given: unknown,
): CheckedValue {
  if (typeof given !== 'number' || !Number.isFinite(given)) return { code: integer ? 'integer' : 'number' };
  if (integer && !Number.isSafeInteger(given)) return { code: 'integer' };
  if (given < (minimum ?? -Infinity)) return { code: 'tooSmall', limit: minimum };
  if (given > (maximum ?? Infinity)) return { code: 'tooLarge', limit: maximum };
  return { value: given };
}

function checkChoices(
  { options, minItems, maxItems, required }: ChoicesField,
  given: unknown,
): CheckedValue | undefined {
  if (!Array.isArray(given) || !given.every((one) => isOption(options, one)))
    return { code: 'choice', limit: toList(options) };
  if (given.length === 0 && !required) return undefined;
  if (given.length < (minItems ?? 0)) return { code: 'tooFew', limit: minItems };
  if (given.length > (maxItems ?? Infinity)) return { code: 'tooMany', limit: maxItems };
  return { value: given };
}

function isOption(options: readonly FieldOption[], given: unknown): boolean {
  return options.some(({ value }) => value === given);
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
