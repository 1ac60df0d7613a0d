// A custom answer: any JSON, or what its JSON Schema allows.
import { checkWithJsonSchema } from '../../server/json-schema.ts';
import { toReason } from '../../server/schema.ts';
import type { CheckedSchema } from '../../server/schema.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Complaint, Field } from './question.ts';

/** By what they say: a question is made anew in every turn, and compiling costs a thousand times what a check does. */
const compiled = new Map<string, CheckedSchema['check']>();
const MAX_KEPT = 200;

export function checkSchema(value: unknown, { prompt }: Field): Complaint | undefined {
  if (prompt.schema === undefined) return undefined;
  const verdict = toCheck(prompt.schema)(value);
  if (verdict instanceof Promise || verdict.problems === undefined) return undefined;
  return { error: toReason(verdict.problems) };
}

function toCheck(schema: JsonObject): CheckedSchema['check'] {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) return known;
  if (compiled.size >= MAX_KEPT) compiled.clear();
  const check = checkWithJsonSchema(schema, 'schema of a custom question');
  compiled.set(text, check);
  return check;
}
