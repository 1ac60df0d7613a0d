// Checks a custom answer: any JSON, or JSON that matches its schema.
import { toReason } from '../../protocol/schema/schema-problem.ts';
import { cachedSchemaCheck } from '../../protocol/schema/cached-schema-check.ts';
import type { Complaint, Field } from './question.ts';

export function checkCustomAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (prompt.schema === undefined) return undefined;
  const { problems } = cachedSchemaCheck(prompt.schema, 'schema of a custom question')(value);
  return problems && { error: toReason(problems) };
}
