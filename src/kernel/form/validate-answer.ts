// Checks an answer against the schema of its form, as a person or a model wrote it.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';
import { copyNumbers } from '../raw/exact-numbers.ts';
import { checkField } from './check-field.ts';
import { checkAsWhole } from './pattern.ts';
import { toSchemaFields, findOption } from './schema-field.ts';
import type { SchemaField } from './schema-field.ts';
import type { CheckedValue, AnswerProblem } from './answer-problem.ts';

type ValidatedAnswer =
  | { content: JsonObject; problems?: undefined }
  | { problems: AnswerProblem[]; content?: undefined };

/** A form with one field may be answered without its name. */
export function validateAnswer(requestedSchema: unknown, given: unknown): ValidatedAnswer {
  const fields = toSchemaFields(requestedSchema);
  const only = fields.length === 1 ? fields[0]! : undefined;
  const answer = isObject(given) ? given : only && given !== undefined ? { [only.name]: given } : {};
  const content: [string, unknown][] = [];
  const problems: AnswerProblem[] = [];
  const valueOf = ({ name }: SchemaField): unknown => (Object.hasOwn(answer, name) ? answer[name] : undefined);
  const all = checkAsWhole(() => fields.map((field) => ({ field, checked: checkWritten(field, valueOf(field)) })));
  for (const { field, checked } of all) {
    if (!checked) continue;
    if ('value' in checked) content.push([field.name, checked.value]);
    else problems.push({ property: field.name, code: checked.code, limit: checked.limit });
  }
  for (const name of Object.keys(answer))
    if (!fields.some((field) => field.name === name))
      problems.push({ property: name, code: 'unknown', limit: undefined });
  return problems.length > 0 ? { problems } : { content: copyNumbers(answer, Object.fromEntries(content)) };
}

/** As a person or a model wrote it. Undefined if an optional field was left out. */
export function checkWritten(field: SchemaField, given: unknown): CheckedValue | undefined {
  return checkField(field, readWritten(field, given));
}

const WORDS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

/**
 * Reads what people and models write, where it is unambiguous: "3" as 3, "yes" as true, a title as its option. Anything
 * else stays as it is, and the check refuses it. Nothing is guessed or filled in.
 */
function readWritten(field: SchemaField, given: unknown): unknown {
  if (given === undefined || given === null || given === '') return given;
  switch (field.kind) {
    case 'text':
    case 'secret':
      return typeof given === 'number' || typeof given === 'boolean' ? String(given) : given;
    case 'number':
      return typeof given === 'string' ? (readNumber(given, field.integer) ?? given) : given;
    case 'boolean':
      return typeof given === 'string' ? (WORDS.get(given.trim().toLowerCase()) ?? given) : given;
    case 'choice':
      return findOption(field.options, given)?.value ?? given;
    case 'choices': {
      const list = (Array.isArray(given) ? given : [given]) as unknown[];
      return [...new Set(list.map((one) => findOption(field.options, one)?.value ?? one))];
    }
    default:
      return given;
  }
}

/** Many people write a decimal comma. Before three digits it may separate thousands, so it is refused there. */
export function readNumber(text: string, integer = false): number | undefined {
  const trimmed = text.trim().replace(/^\u2212/, '-');
  const plain = integer ? trimmed : trimmed.replace(/^([+-]?\d+),(\d{1,2}|\d{4,})$/, '$1.$2');
  const form = integer ? /^[+-]?\d+$/ : /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
  return form.test(plain) ? Number(plain) : undefined;
}
