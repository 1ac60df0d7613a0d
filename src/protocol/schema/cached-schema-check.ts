// The check of a schema that is made anew for every question, kept by what it says: compiling costs a thousand times what a
// check does.
import { checkWithJsonSchema } from './json-schema.ts';
import type { SchemaVerdict } from './schema-problem.ts';
import type { JsonObject } from '../message.ts';

const kept = new Map<string, (value: unknown) => SchemaVerdict>();
const MAX_KEPT = 200;

/** `option` names the schema where it cannot be used. */
export function cachedSchemaCheck(schema: JsonObject, option: string): (value: unknown) => SchemaVerdict {
  const text = JSON.stringify(schema);
  const known = kept.get(text);
  if (known) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const check = checkWithJsonSchema(schema, option);
  kept.set(text, check);
  return check;
}
