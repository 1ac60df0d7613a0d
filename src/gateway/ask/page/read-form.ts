// Reads a posted form into the answers of its round, or into the entries and problems to show again.
import { checkAsWhole } from '../../../protocol/form/pattern.ts';
import { checkWritten } from '../../../protocol/form/validate-answer.ts';
import type { SchemaField } from '../../../protocol/form/schema-field.ts';
import type { CheckedValue, AnswerProblem } from '../../../protocol/form/answer-problem.ts';
import type { RoundAnswer } from '../question-round.ts';
import { valueOf } from './field-entry.ts';
import type { FieldEntry } from './field-entry.ts';
import type { Section } from './render/sections.ts';

export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly data: string;
}

/** One section with its entries. */
export interface FilledForm {
  readonly isSkipped: boolean;
  readonly isDone: boolean;
  readonly entries: readonly FieldEntry[];
  /** Problems by field position; -1 is the section itself. */
  readonly problems: ReadonlyMap<number, AnswerProblem>;
}

export type ReadForm = { answers: Record<string, RoundAnswer>; filled?: undefined } | { filled: readonly FilledForm[] };

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
