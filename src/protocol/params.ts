// Reads the params of a request. Errors name the missing or mistyped parameter, in the same words for every dialect.
import { isObject } from './message.ts';
import type { JsonObject } from './message.ts';
import { GatewayError } from '../shared/errors.ts';

export const MISSING = 'Required parameter missing';

export function readString(params: JsonObject, name: string, path = name): string {
  const value = params[name];
  if (typeof value === 'string') return value;
  throw toInvalid(path, value === undefined ? MISSING : 'Must be a string');
}

export function readOptionalString(params: JsonObject, name: string, path = name): string | undefined {
  return params[name] === undefined ? undefined : readString(params, name, path);
}

export function readObject(params: JsonObject, name: string, path = name): JsonObject {
  const value = params[name];
  if (isObject(value)) return value;
  throw toInvalid(path, value === undefined ? MISSING : 'Must be an object');
}

export function readOptionalObject(params: JsonObject, name: string, path = name): JsonObject | undefined {
  return params[name] === undefined ? undefined : readObject(params, name, path);
}

/** An optional object of strings, such as the arguments of a prompt. */
export function readStrings(params: JsonObject, name: string, path = name): Record<string, string> {
  const strings = readOptionalObject(params, name, path) ?? {};
  for (const [key, value] of Object.entries(strings)) {
    if (typeof value !== 'string') throw toInvalid(key, 'Must be a string');
  }
  return strings as Record<string, string>;
}

export function toInvalid(parameter: string, error: string): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter, error });
}
