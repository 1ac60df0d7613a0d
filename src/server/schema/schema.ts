// Turns an author's schema of any kind into the JSON Schema for lists and a check of values. Refuses an unusable schema at registration,
// with advice.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { checkWithJsonSchema } from '../../protocol/schema/json-schema.ts';
import type { SchemaVerdict } from '../../protocol/schema/schema-problem.ts';
import { checkWithStandard, isStandardSchema, toJsonSchema } from './standard-schema.ts';
import type { MaybePromise, Schema } from '../types.ts';

export interface CheckedSchema {
  readonly json: JsonObject;
  /** Returns the value as the schema transforms it, or all problems. */
  readonly check: (value: unknown) => MaybePromise<SchemaVerdict>;
}

interface Purpose {
  side: 'input' | 'output';
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
