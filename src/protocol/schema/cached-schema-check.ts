// Caches schema checks by the schema's content, because the same schema is created for every question and compiling
// costs a thousand times a check.
import { checkWithJsonSchema } from './json-schema.ts';
import type { SchemaVerdict } from './schema-problem.ts';
import type { JsonObject } from '../message.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';

const MAX_KEPT = 200;
const kept = new BoundedMap<string, (value: unknown) => SchemaVerdict>(MAX_KEPT);

/** `option` names the schema in errors. */
export function cachedSchemaCheck(schema: JsonObject, option: string): (value: unknown) => SchemaVerdict {
  return kept.getOrCreate(JSON.stringify(schema), () => checkWithJsonSchema(schema, option));
}
