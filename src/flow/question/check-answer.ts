// Checks an answer against its question. The author's own rules are not checked here, as they need the body.
// 1. Nothing from a peer reaches the body unchecked, and nothing is coerced: "5" is not a number.
// 2. Absent, null and "" count as no answer, so the default applies, if there is one.
import { isObject } from '../../protocol/message.ts';
import { cachedSchemaCheck, toReason } from '../../protocol/json-schema.ts';
import { checkChoiceAnswer, checkChoicesAnswer } from './check-choice.ts';
import { checkFileAnswer } from './check-file.ts';
import { toComplaint } from './complaint.ts';
import type { Complaint, Field, Kind } from './question.ts';
import { checkNumber, checkText, hasFormat } from '../../protocol/form/check-field.ts';

export type AnswerCheck = { value: unknown; from: 'given' | 'default' } | { complaint: Complaint };

/** Undefined if the value is valid. */
type Check = (value: unknown, question: Field) => Complaint | undefined;

const CHECKS: Record<Exclude<Kind, 'form'>, Check> = {
  text: checkTextAnswer,
  number: checkNumberAnswer,
  confirm: (value) => (typeof value === 'boolean' ? undefined : { error: 'Must be true or false' }),
  date: checkDateAnswer,
  choice: checkChoiceAnswer,
  choices: checkChoicesAnswer,
  file: checkFileAnswer,
  custom: checkCustomAnswer,
};

export function checkAnswer(
  value: unknown,
  question: Field & { fields?: Record<string, Field> | undefined },
): AnswerCheck {
  if (question.kind === 'form') return checkForm(value, question.fields ?? {});
  if (isAbsent(value)) return checkAbsent(question);
  const complaint = CHECKS[question.kind](value, question);
  return complaint ? { complaint } : { value, from: 'given' };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** A missing answer never counts as a yes, whatever the default. */
function checkAbsent({ kind, prompt: { defaultValue, validation } }: Field): AnswerCheck {
  const isYes = kind === 'confirm' && defaultValue !== false;
  if (defaultValue !== undefined && !isYes) return { value: defaultValue, from: 'default' };
  if (validation?.required === true || kind === 'confirm') return { complaint: { error: 'An answer is required' } };
  return { value: undefined, from: 'default' };
}

function checkTextAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  const { min, max, pattern, format } = prompt.validation ?? {};
  const checked = checkText({ minLength: toBound(min), maxLength: toBound(max), pattern, format }, value);
  if ('value' in checked) return undefined;
  const complaint = toComplaint(checked);
  if (checked.code === 'pattern' && prompt.placeholder !== undefined)
    complaint.suggestion = `Like ${prompt.placeholder}`;
  return complaint;
}

function checkNumberAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  const { min, max, integer = false } = prompt.validation ?? {};
  const checked = checkNumber({ integer, minimum: toBound(min), maximum: toBound(max) }, value);
  return 'value' in checked ? undefined : toComplaint(checked);
}

function toBound(bound: unknown): number | undefined {
  return typeof bound === 'number' ? bound : undefined;
}

function checkCustomAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (prompt.schema === undefined) return undefined;
  const { problems } = cachedSchemaCheck(prompt.schema, 'schema of a custom question')(value);
  return problems && { error: toReason(problems) };
}

/** Checks all fields, so that every mistake is reported at once. */
function checkForm(value: unknown, fields: Record<string, Field>): AnswerCheck {
  if (!isObject(value)) return { complaint: { error: 'Must be an object with the fields of the form' } };
  const answers: Record<string, unknown> = {};
  const complaints: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const checked = checkAnswer(Object.hasOwn(value, name) ? value[name] : undefined, field);
    if ('complaint' in checked) complaints.push(`${name}: ${checked.complaint.error}`);
    else if (checked.value !== undefined) answers[name] = checked.value;
  }
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
  if (unknown.length > 0) complaints.push(`${unknown[0]}: There is no such field`);
  if (complaints.length > 0) return { complaint: { error: complaints.join('; ') } };
  return { value: answers, from: 'given' };
}

/** The date must exist in the calendar (YYYY-MM-DD). */
function checkDateAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (typeof value !== 'string' || !hasFormat('date', value)) return toComplaint({ code: 'date' });
  const { min, max } = prompt.validation ?? {};
  if (typeof min === 'string' && value < min) return { error: `Must not be before ${min}` };
  if (typeof max === 'string' && value > max) return { error: `Must not be after ${max}` };
  return undefined;
}
