// Caches schema checks by the schema's content, because the same schema is created for every question and compiling
// costs a thousand times a check.
import { checkWithJsonSchema } from './json-schema.ts';
import type { SchemaVerdict } from './schema-problem.ts';
import type { JsonObject } from '../message.ts';

const kept = new Map<string, (value: unknown) => SchemaVerdict>();
const MAX_KEPT = 200;

/** `option` names the schema in errors. */
export function cachedSchemaCheck(schema: JsonObject, option: string): (value: unknown) => SchemaVerdict {
  const text = JSON.stringify(schema);
  const known = kept.get(text);
  if (known) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const check = checkWithJsonSchema(schema, option);
  kept.set(text, check);
  return check;
}
