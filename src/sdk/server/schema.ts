// Turns an author's schema of any kind into the JSON Schema for lists and a check of values. Refuses an unusable schema at registration,
// with advice. Schemas of any library that follows Standard Schema are used without importing one.
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { checkWithJsonSchema } from '../../kernel/json-schema.ts';
import type { SchemaVerdict, SchemaProblem } from '../../kernel/json-schema.ts';
import { isObject, MISSING } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError, messageOf } from '../../kernel/base/errors.ts';
import { isStandardSchema, validateStandard } from '../../kernel/form/standard-schema.ts';
import type { MaybePromise, Schema } from './types.ts';

type Side = 'input' | 'output';

export interface CheckedSchema {
  readonly json: JsonObject;
  /** Returns the value as the schema transforms it, or all problems. */
  readonly check: (value: unknown) => MaybePromise<SchemaVerdict>;
}

interface Purpose {
  side: Side;
  /** The option that has the schema, for the error. */
  option: string;
}

export function toCheckedSchema(schema: Schema, purpose: Purpose): CheckedSchema {
  if (isStandardSchema(schema)) {
    const json = toJsonSchema(schema, purpose);
    return { json: rooted(json, purpose), check: checkWithStandard(schema, json) };
  }
  if (!isObject(schema)) throw new GatewayError('BAD_OPTION', { option: purpose.option, reason: 'is not a schema' });
  return { json: rooted(schema, purpose), check: checkWithJsonSchema(schema, purpose.option) };
}

/** Arguments are always an object, and the protocol requires the schema to say so. */
function rooted(json: JsonObject, { side, option }: Purpose): JsonObject {
  if (side === 'output' || json['type'] === 'object') return json;
  if (json['type'] === undefined) return { type: 'object', ...json };
  throw new GatewayError('BAD_OPTION', { option, reason: 'must describe an object, as arguments have names' });
}

/** By the standard's method, else by zod's. */
export function toJsonSchema(schema: StandardSchemaV1, { side, option }: Purpose): JsonObject {
  type Converter = Record<Side, (options: { target: string }) => JsonObject>;
  const { jsonSchema } = schema['~standard'] as { jsonSchema?: Converter };
  const { toJSONSchema } = schema as { toJSONSchema?: (options: { io: Side }) => JsonObject };
  try {
    if (jsonSchema !== undefined) return jsonSchema[side]({ target: 'draft-2020-12' });
    if (toJSONSchema !== undefined) return toJSONSchema.call(schema, { io: side });
  } catch (thrown) {
    const reason = `has no JSON Schema: ${messageOf(thrown)}`;
    throw new GatewayError('BAD_OPTION', { option, reason }, { cause: thrown });
  }
  const reason = 'cannot tell its JSON Schema; use a library with Standard JSON Schema, or give a plain JSON Schema';
  throw new GatewayError('BAD_OPTION', { option, reason });
}

function checkWithStandard(schema: StandardSchemaV1, json: JsonObject): CheckedSchema['check'] {
  const required: unknown[] = Array.isArray(json['required']) ? json['required'] : [];
  return (value) => {
    const result = validateStandard(schema, value);
    if (result instanceof Promise) return result.then((settled) => toVerdict(settled, value, required));
    return toVerdict(result, value, required);
  };
}

function toVerdict(result: StandardSchemaV1.Result<unknown>, value: unknown, required: unknown[]): SchemaVerdict {
  if (result.issues === undefined) return { value: result.value };
  return { problems: result.issues.map((issue) => toProblem(issue, value, required)) };
}

function toProblem(issue: StandardSchemaV1.Issue, value: unknown, required: unknown[]): SchemaProblem {
  const keys = (issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
  // A rule between fields may point to an absent optional field, which is not a missing parameter.
  const missing = isAbsent(value, keys) && (keys.length > 1 || required.includes(keys[0]));
  return { path: keys.map(String).join('.'), error: missing ? MISSING : issue.message, missing };
}

function isAbsent(value: unknown, keys: PropertyKey[]): boolean {
  if (keys.length === 0) return false;
  let inner = value;
  for (const key of keys.slice(0, -1))
    inner = isObject(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : inner;
  return isObject(inner) && !Object.hasOwn(inner, keys[keys.length - 1] as PropertyKey);
}
