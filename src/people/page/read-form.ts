// Reads a posted form into the answers of its round, or into the entries and problems to show again. Options are sent by number and properties
// by position, so that no name chosen by a server comes back through the browser.
import type { CheckedValue, AnswerProblem } from '../../kernel/form/answer-problem.ts';
import { hasFormat } from '../../kernel/form/check-field.ts';
import { checkAsWhole } from '../../kernel/form/pattern.ts';
import { findOption } from '../../kernel/form/schema-field.ts';
import type { SchemaField, ChoiceField, ChoicesField } from '../../kernel/form/schema-field.ts';
import { checkWritten } from '../../kernel/form/validate-answer.ts';
import type { RoundAnswer } from '../question-round.ts';
import type { Section } from './render/sections.ts';

interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly data: string;
}

/** The entry in a form field, as the browser sends and shows it. */
export interface FieldEntry {
  readonly texts: readonly string[];
  /** The UTC offset of a time. */
  readonly zone: string;
  readonly file?: UploadedFile | undefined;
}

/** One section with its entries. */
export interface FilledForm {
  readonly isSkipped: boolean;
  readonly isDone: boolean;
  readonly entries: readonly FieldEntry[];
  /** Problems by field position; -1 is the section itself. */
  readonly problems: ReadonlyMap<number, AnswerProblem>;
}

type ReadForm = { answers: Record<string, RoundAnswer>; filled?: undefined } | { filled: readonly FilledForm[] };

/** A longer default is not shown, because nobody would read it. */
const MAX_DEFAULT = 20_000;
const LOCAL_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;

export async function readForm(sections: readonly Section[], form: FormData): Promise<ReadForm> {
  const read = await Promise.all(sections.map((section) => readSection(section, form)));
  if (read.some(({ filled }) => filled.problems.size > 0)) return { filled: read.map(({ filled }) => filled) };
  return { answers: Object.fromEntries(sections.map(({ key }, index) => [key, read[index]!.answer])) };
}

async function readSection(section: Section, form: FormData): Promise<{ filled: FilledForm; answer: RoundAnswer }> {
  const { name, fields } = section;
  const entries = await Promise.all(fields.map((field, index) => readEntry(field, `${name}.${index}`, form)));
  const isSkipped = form.has(`${name}.skip`);
  const isDone = form.has(`${name}.done`) || section.isAlone;
  const problems = new Map<number, AnswerProblem>();
  const filled = { isSkipped, isDone, entries, problems };
  if (isSkipped || section.trouble) return { filled, answer: { action: 'decline' } };
  if (section.url) {
    if (!isDone) problems.set(-1, { property: '', code: 'required', limit: undefined });
    return { filled, answer: { action: 'accept' } };
  }
  const content: [string, unknown][] = [];
  const all = checkAsWhole(() => fields.map((field, index) => checkEntry(field, entries[index]!)));
  fields.forEach((field, index) => {
    const checked = all[index];
    if (checked && 'value' in checked) content.push([field.name, checked.value]);
    else if (checked) problems.set(index, { property: field.name, code: checked.code, limit: checked.limit });
  });
  return { filled, answer: { action: 'accept', content: Object.fromEntries(content) } };
}

function checkEntry(field: SchemaField, entry: FieldEntry): CheckedValue | undefined {
  const meant = valueOf(field, entry);
  return 'code' in meant ? meant : checkWritten(field, meant.value);
}

async function readEntry(field: SchemaField, name: string, form: FormData): Promise<FieldEntry> {
  const sent = form.getAll(name);
  const texts = sent.filter((one) => typeof one === 'string');
  const zone = form.get(`${name}.zone`);
  return {
    texts,
    zone: typeof zone === 'string' ? zone : '',
    file: field.kind === 'file' ? await toFile(sent.find((one) => typeof one !== 'string')) : undefined,
  };
}

/** An empty file input sends a file without name and content. */
async function toFile(file: File | undefined): Promise<UploadedFile | undefined> {
  if (!file || (file.name === '' && file.size === 0)) return undefined;
  const data = Buffer.from(await file.arrayBuffer()).toString('base64');
  return { name: file.name, mimeType: file.type || 'application/octet-stream', data };
}

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
function valueOf(field: SchemaField, entry: FieldEntry): CheckedValue {
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
