// Checks the value of a form field, the same for every channel. Nothing is converted: "5" is not a number here. What a channel
// reads generously is a pass of its own before (`readWritten`).
import { isObject } from '../message.ts';
import type { CheckedValue } from './answer-problem.ts';
import type {
  FieldOption,
  ChoicesField,
  NumberField,
  SchemaField,
  TextFormat,
  TextFieldRules,
  FileField,
} from './schema-field.ts';
import { matchesPattern } from './pattern.ts';

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

const MAX_EMAIL = 254;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

export function hasFormat(format: TextFormat, text: string): boolean {
  switch (format) {
    case 'email':
      return (
        text.length <= MAX_EMAIL && /^[^\s@"<>(),;:\\[\]]+@[^\s@."<>(),;:\\[\]]+(\.[^\s@."<>(),;:\\[\]]+)+$/.test(text)
      );
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text);
    case 'date':
      return isDate(text);
    case 'date-time':
      return isDate(DATE_TIME.exec(text)?.[1] ?? '');
  }
}

/** A real calendar date: no 30 February. */
function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day); // years before 100 are not shifted to 1900
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const MAX_NAME = 255;

/** A file is `{ name, mimeType, data }` with data in base64. */
function checkFileValue({ accept, maxBytes }: FileField, given: unknown): CheckedValue {
  if (!isObject(given)) return { code: 'file' };
  const { name, mimeType, data } = given;
  if (typeof name !== 'string' || typeof mimeType !== 'string' || typeof data !== 'string') return { code: 'file' };
  if (!isBase64(data)) return { code: 'file' };
  if (sizeOf(data) > maxBytes) return { code: 'fileTooLarge', limit: toSize(maxBytes) };
  if (!isAccepted(accept, name, mimeType)) return { code: 'fileType', limit: accept.join(', ') };
  return { value: { name: toFileName(name), mimeType, data } };
}

/** Formats a size for people: 300 KB, 1.5 MB. */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1024, 'KB'] : [bytes / 1024 / 1024, 'MB'];
  return `${Number(size.toFixed(1))} ${unit}`;
}

/** The last part of the path: a name to display, never to write to. */
function toFileName(name: string): string {
  const last = name
    .split(/[/\\]/)
    .at(-1)!
    .replaceAll(/\p{Cc}/gu, '');
  return last.slice(-MAX_NAME);
}

function isAccepted(accept: readonly string[], name: string, mimeType: string): boolean {
  if (accept.length === 0) return true;
  const [file, type] = [name.toLowerCase(), mimeType.toLowerCase()];
  return accept.some((one) => {
    if (one.startsWith('.')) return file.endsWith(one);
    return one.endsWith('/*') ? type.startsWith(one.slice(0, -1)) : type === one;
  });
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}

function sizeOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
