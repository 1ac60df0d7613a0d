// Checks an answer against the schema of its form, as a person or a model wrote it.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';
import { checkField } from './check-field.ts';
import { checkAsWhole } from './pattern.ts';
import { readWritten } from './read-written.ts';
import { toSchemaFields } from './schema-field.ts';
import type { SchemaField } from './schema-field.ts';
import type { CheckedValue, AnswerProblem } from './answer-problem.ts';

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
  return problems.length > 0 ? { problems } : { content: Object.fromEntries(content) };
}

/** As a person or a model wrote it. Undefined if an optional field was left out. */
export function checkWritten(field: SchemaField, given: unknown): CheckedValue | undefined {
  return checkField(field, readWritten(field, given));
}
