// A custom answer: any JSON, or what its JSON Schema allows.
import { toReason } from '../../protocol/schema/json-schema-problem.ts';
import { keptCheck } from '../../protocol/schema/kept-check.ts';
import type { Complaint, Field } from './question.ts';

export function checkSchema(value: unknown, { prompt }: Field): Complaint | undefined {
  if (prompt.schema === undefined) return undefined;
  const { problems } = keptCheck(prompt.schema, 'schema of a custom question')(value);
  return problems && { error: toReason(problems) };
}
