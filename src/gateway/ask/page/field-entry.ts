// The entry in a form field, as the browser sends and shows it. Options are sent by number and properties by position,
// so that no name chosen by a server comes back through the browser.
import { hasFormat } from '../../../protocol/form/text-format.ts';
import type { ChoiceField, ChoicesField, SchemaField } from '../../../protocol/form/schema-field.ts';
import { findOption } from '../../../protocol/form/field-options.ts';
import type { CheckedValue } from '../../../protocol/form/answer-problem.ts';
import type { UploadedFile } from './read-form.ts';

export interface FieldEntry {
  readonly texts: readonly string[];
  /** The UTC offset of a time. */
  readonly zone: string;
  readonly file?: UploadedFile | undefined;
}

/** A longer default is not shown, because nobody would read it. */
const MAX_DEFAULT = 20_000;

/** The initial entry: the server's default. */
export function defaultEntry(field: SchemaField): FieldEntry {
  const entry = toDefault(field);
  return entry.texts.every(({ length }) => length <= MAX_DEFAULT) ? entry : toEntry([]);
}

function toDefault(field: SchemaField): FieldEntry {
  const { default: preset } = field;
  if (preset === undefined || preset === null || field.kind === 'secret' || field.kind === 'file') return toEntry([]);
  if (field.kind === 'choice') return toEntry(indexOf(field, preset));
  if (field.kind === 'choices')
    return toEntry((Array.isArray(preset) ? preset : []).flatMap((one) => indexOf(field, one)));
  if (field.kind === 'json') return toEntry([JSON.stringify(preset, null, 2)]);
  if (field.kind === 'text' && field.format === 'date-time') return timeEntry(String(preset));
  return typeof preset === 'object' ? toEntry([]) : toEntry([String(preset)]);
}

/** The entered value, to be checked like any other answer, or what is wrong with it. */
export function valueOf(field: SchemaField, entry: FieldEntry): CheckedValue {
  const text = entry.texts[0] ?? '';
  switch (field.kind) {
    case 'text':
      if (field.format === 'date-time') return timeValue(text.trim(), entry.zone);
      return { value: field.format ? text.trim() : text.replaceAll('\r\n', '\n') };
    case 'choice':
      return text === '' ? { value: undefined } : pickedValue(field, text);
    case 'choices':
      return pickedValues(field, entry.texts);
    case 'json':
      return jsonValue(text);
    case 'file':
      return { value: entry.file };
    case 'secret':
    case 'number':
    case 'boolean':
      return { value: text };
  }
}

function pickedValue({ options }: ChoiceField | ChoicesField, index: string): CheckedValue {
  const option = /^\d{1,6}$/.test(index) ? options[Number(index)] : undefined;
  return option ? { value: option.value } : { code: 'choice' };
}

/** Nothing picked means no answer, unless the field allows an empty choice. */
function pickedValues(field: ChoicesField, indexes: readonly string[]): CheckedValue {
  if (indexes.length === 0) return { value: field.required && !field.minItems ? [] : undefined };
  const picked = indexes.map((index) => pickedValue(field, index));
  const wrong = picked.find((one) => 'code' in one);
  return wrong ?? { value: picked.flatMap((one) => ('value' in one ? [one.value] : [])) };
}

function jsonValue(text: string): CheckedValue {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { code: 'json' };
  }
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;

/** Browser forms have no time zones. A browser without a time input sends the typed text. */
function timeValue(text: string, zone: string): CheckedValue {
  if (text === '' || hasFormat('date-time', text)) return { value: text };
  const match = LOCAL_TIME.exec(text);
  if (!match || zone === '') return { code: 'dateTime' };
  return { value: `${text.replace(' ', 'T')}${match[1] ? '' : ':00'}${zone === '+00:00' ? 'Z' : zone}` };
}

function timeEntry(preset: string): FieldEntry {
  const match = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)\S*?([Zz]|[+-]\d\d:\d\d)$/.exec(preset);
  if (!match) return toEntry([]);
  return { texts: [`${match[1]}T${match[2]}`], zone: match[3]!.toLowerCase() === 'z' ? '+00:00' : match[3]! };
}

function indexOf({ options }: ChoiceField | ChoicesField, preset: unknown): string[] {
  const option = findOption(options, preset);
  return option ? [String(options.indexOf(option))] : [];
}

function toEntry(texts: readonly string[]): FieldEntry {
  return { texts, zone: '' };
}
