// An author's schema, whichever kind it is, as two things: the JSON Schema that lists show, and a check of values.
// A schema that cannot be used is refused when it is registered, with what to do about it.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { checkWithJsonSchema } from '../../protocol/schema/json-schema.ts';
import type { SchemaVerdict } from '../../protocol/schema/schema-problem.ts';
import { checkWithStandard, isStandardSchema, toJsonSchema } from './standard-schema.ts';
import type { MaybePromise, Schema } from '../types.ts';

export interface CheckedSchema {
  readonly json: JsonObject;
  /** Lets the value through as the schema makes it, or says all that is wrong with it. */
  readonly check: (value: unknown) => MaybePromise<SchemaVerdict>;
}

interface Purpose {
  side: 'input' | 'output';
  /** Where it was given, for the error. */
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

/** Arguments are always an object, and the protocol wants the schema to say so. */
function rooted(json: JsonObject, { side, option }: Purpose): JsonObject {
  if (side === 'output' || json['type'] === 'object') return json;
  if (json['type'] === undefined) return { type: 'object', ...json };
  throw new GatewayError('BAD_OPTION', { option, reason: 'must describe an object, as arguments have names' });
}
