// Schemas of any library that follows Standard Schema, used without importing one.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { withoutStrays } from '../base/stray-promises.ts';

/** Looks at the `~standard` key, not at the type, as some schemas are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  return ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema;
}

/** Leaves no rejection unhandled, whatever the author's rules do. */
export function validateStandard(schema: StandardSchemaV1, value: unknown): ReturnType<Validator> {
  const { validate } = schema['~standard'];
  return mayStray(schema) ? withoutStrays(() => validate(value)) : validate(value);
}

type Validator = StandardSchemaV1['~standard']['validate'];

const strays = new WeakMap<object, boolean>();

/** Only rules that are functions can be asynchronous. Known for Zod, whose schemas are most of all; assumed of others. */
function mayStray(schema: StandardSchemaV1): boolean {
  const known = strays.get(schema);
  if (known !== undefined) return known;
  const { _zod } = schema as { _zod?: { def?: unknown } };
  const may = _zod === undefined || hasFunction(_zod.def, 0);
  strays.set(schema, may);
  return may;
}

const MAX_DEPTH = 20;

function hasFunction(part: unknown, depth: number): boolean {
  if (typeof part === 'function' || depth > MAX_DEPTH) return true;
  if (typeof part !== 'object' || part === null || part instanceof RegExp) return false;
  const { _zod } = part as { _zod?: { def?: unknown } };
  if (_zod !== undefined) return hasFunction(_zod.def, depth + 1);
  // `when` says whether a rule is applied, and is not a rule itself.
  return Object.entries(part).some(([name, inner]) => name !== 'when' && hasFunction(inner, depth + 1));
}
