// An object that goes on as it came, so long as nobody changes it: a number too large for JavaScript, or a key that stands there
// twice further in, arrives as it was sent. Small ones were read (raw-text.ts), large ones were not (raw-bytes.ts).
// 1. It never changes: `with` and `without` make another one.
// 2. Written, it has no line end.
import { isObject } from '../message.ts';
import type { JsonObject } from '../message.ts';

/** A result on its way: read already, or not yet. */
export type ResultObject = JsonObject | RawObject;

export type RawType = 'object' | 'array' | 'string' | 'other';

export abstract class RawObject {
  abstract has(key: string): boolean;
  /** Reads this one member. */
  abstract get(key: string): unknown;
  /** What a member is, without reading it. */
  abstract typeOf(key: string): RawType | undefined;
  /** With other values for some members; what had none comes last. */
  abstract with(values: JsonObject): RawObject;
  abstract without(...keys: string[]): RawObject;
  /** Reads all of it. */
  abstract parse(): JsonObject;
  /** Its bytes as they are to be written, one piece after the other. */
  abstract chunks(): Buffer[];
  abstract get byteLength(): number;

  /** Whether this stands in it as it would be written. What was put together of pieces is not searched across them. */
  includes(text: string): boolean {
    return this.chunks().some((chunk) => chunk.includes(text));
  }

  /** Wherever it is written together with something else, it is written like anything else. */
  toJSON(): JsonObject {
    return this.parse();
  }
}

/** For whoever has to see all of it. */
export function toPlainObject(result: ResultObject): JsonObject {
  return result instanceof RawObject ? result.parse() : result;
}

/** One member, whatever the result is. */
export function fieldOf(result: ResultObject, key: string): unknown {
  return result instanceof RawObject ? result.get(key) : result[key];
}

export function isResultObject(value: unknown): value is ResultObject {
  return value instanceof RawObject || isObject(value);
}
