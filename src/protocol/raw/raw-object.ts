// An object that is passed on exactly as it came unless it is changed, so that large numbers and nested duplicate keys
// survive. Small ones are parsed (raw-text.ts), large ones are not (raw-bytes.ts).
// 1. It is immutable: `with` and `without` return a new one.
// 2. Its encoding contains no line end.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';

/** A result, parsed or not. */
export type ResultObject = JsonObject | RawObject;

export type RawType = 'object' | 'array' | 'string' | 'other';

export abstract class RawObject {
  abstract has(key: string): boolean;
  /** Parses this member only. */
  abstract get(key: string): unknown;
  /** The type of a member, without parsing it. */
  abstract typeOf(key: string): RawType | undefined;
  /** A copy with other values for some members; new members come last. */
  abstract with(values: JsonObject): RawObject;
  abstract without(...keys: string[]): RawObject;
  /** Parses the whole object. */
  abstract parse(): JsonObject;
  /** The bytes to write, in chunks. */
  abstract chunks(): Buffer[];
  abstract get byteLength(): number;

  /** Whether the encoding contains this text. Text across chunk borders is not found. */
  includes(text: string): boolean {
    return this.chunks().some((chunk) => chunk.includes(text));
  }

  /** Used when it is encoded as part of something else. */
  toJSON(): JsonObject {
    return this.parse();
  }
}

/** The result as a plain object. */
export function toPlainObject(result: ResultObject): JsonObject {
  return result instanceof RawObject ? result.parse() : result;
}

/** One member of a result, parsed or not. */
export function fieldOf(result: ResultObject, key: string): unknown {
  return result instanceof RawObject ? result.get(key) : result[key];
}

export function isResultObject(value: unknown): value is ResultObject {
  return value instanceof RawObject || isObject(value);
}
