// Checks an answer against its question. The author's own rules are not checked here, as they need the body.
// 1. Nothing from a peer reaches the body unchecked, and nothing is coerced: "5" is not a number.
// 2. Absent, null and "" count as no answer, so the default applies, if there is one.
import { isDeepStrictEqual } from 'node:util';
import type { ProblemCode, CheckedValue } from '../../kernel/form/answer-problem.ts';
import { checkNumber, checkText, hasFormat } from '../../kernel/form/check-field.ts';
import type { Choice } from '../../kernel/form/prompt.ts';
import { cachedSchemaCheck, toReason } from '../../kernel/json-schema.ts';
import { isObject } from '../../kernel/message.ts';
import type { Complaint, Field, Kind } from './question.ts';

type AnswerCheck = { value: unknown; from: 'given' | 'default' } | { complaint: Complaint };

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

const MAX_TOLD = 10;

/** Values are compared by content, so a choice may be an object. */
function checkChoiceAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  const choices = prompt.choices ?? [];
  return isOffered(value, choices) ? undefined : { error: 'Not one of the choices', suggestion: told(choices) };
}

function checkChoicesAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (!Array.isArray(value)) return { error: 'Must be a list of choices' };
  const choices = prompt.choices ?? [];
  const { min, max } = prompt.validation ?? {};
  if (value.length > choices.length) return { error: 'More answers than choices' };
  if (value.some((one) => !isOffered(one, choices)))
    return { error: 'Not all are among the choices', suggestion: told(choices) };
  if (value.some((one, at) => value.slice(0, at).some((other) => isDeepStrictEqual(one, other))))
    return { error: 'The same choice twice' };
  if (typeof min === 'number' && value.length < min) return { error: `Choose at least ${min}` };
  if (typeof max === 'number' && value.length > max) return { error: `Choose at most ${max}` };
  return undefined;
}

function isOffered(value: unknown, choices: Choice[]): boolean {
  return choices.some((choice) => choice.value === value || isDeepStrictEqual(choice.value, value));
}

function told(choices: Choice[]): string {
  const named = choices
    .slice(0, MAX_TOLD)
    .map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return `Use ${named.join(', ')}${choices.length > MAX_TOLD ? ', …' : ''}`;
}

/** A file as the body sees it: everything but its bytes, which a step can read. */
export interface FileRef {
  name: string;
  mimeType: string;
  size: number;
  sha256: string;
}

export interface FileAnswer {
  name: string;
  mimeType: string;
  data: string;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

export function checkFileAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (!isFileAnswer(value)) return { error: 'Must be a file', suggestion: 'Use {name, mimeType, data in base64}' };
  const { maxBytes = DEFAULT_MAX_BYTES, accept } = prompt.validation ?? {};
  if (value.data.length % 4 !== 0 || !BASE64.test(value.data)) return { error: 'data is not base64' };
  if (Buffer.byteLength(value.data, 'base64') > maxBytes) return { error: `Must have at most ${maxBytes} bytes` };
  if (accept && !accept.some((type) => isAccepted(value, type)))
    return { error: `Must be of type ${accept.join(' or ')}` };
  return undefined;
}

export function isFileAnswer(value: unknown): value is FileAnswer {
  return isObject(value) && ['name', 'mimeType', 'data'].every((field) => typeof value[field] === 'string');
}

/**
 * The form of a file in the journal, whose bytes are in the store. Never accepted from a peer, who could name the bytes of somebody else.
 */
export function isFileRef(value: unknown): value is FileRef {
  return isObject(value) && typeof value['sha256'] === 'string' && typeof value['size'] === 'number';
}

/** A MIME type, one with a wildcard, or a file extension. */
function isAccepted({ name, mimeType }: FileAnswer, type: string): boolean {
  if (type.startsWith('.')) return name.toLowerCase().endsWith(type.toLowerCase());
  return type.endsWith('/*') ? mimeType.startsWith(type.slice(0, -1)) : mimeType === type;
}

const INVALID = 'Invalid format';

/** `{limit}` is filled in. */
const COMPLAINTS: Partial<Record<ProblemCode, Complaint>> = {
  text: { error: 'Must be text, without NUL characters' },
  tooShort: { error: 'Must have at least {limit} characters' },
  tooLong: { error: 'Must have at most {limit} characters' },
  email: { error: INVALID, suggestion: 'Use name@example.com' },
  uri: { error: INVALID, suggestion: 'Use https://example.com' },
  date: { error: INVALID, suggestion: 'Use YYYY-MM-DD' },
  number: { error: 'Must be a number' },
  integer: { error: 'Must be a whole number' },
  tooSmall: { error: 'Must be at least {limit}' },
  tooLarge: { error: 'Must be at most {limit}' },
};

/** What is wrong, in the words of flows. */
function toComplaint(checked: Exclude<CheckedValue, { value: unknown }>): Complaint {
  const { error, suggestion } = COMPLAINTS[checked.code] ?? { error: INVALID };
  return {
    error: error.replace('{limit}', () => String(checked.limit)),
    ...(suggestion !== undefined && { suggestion }),
  };
}
