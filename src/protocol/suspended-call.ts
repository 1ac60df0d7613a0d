// A call that ends with questions for now, to be made again with their answers: nothing is kept meanwhile. It stands in the
// result under a name that no server uses, so that steps carry it like any other result.
import type { JsonObject } from './message.ts';
import { isObject } from './message.ts';
import type { ResultObject } from './raw/raw-object.ts';
import { RawObject } from './raw/raw-object.ts';

export interface SuspendedCall {
  questions: { [key: string]: { method: string; params?: JsonObject | undefined } };
  /** Comes back with the answers as it is; undefined where there is none. */
  state: string | undefined;
}

/** What has come of it when the call is made again. */
export interface ResumedCall {
  state: string | undefined;
  answers: JsonObject;
  /** The server that had asked, where there are several. */
  server: string | undefined;
}

const KEY = 'mcp-parley/suspended';

export function toSuspended(suspended: SuspendedCall): JsonObject {
  return { [KEY]: suspended };
}

/** A large result is none: it has come as it is. */
export function readSuspended(result: ResultObject): SuspendedCall | undefined {
  if (!isObject(result) || result instanceof RawObject) return undefined;
  const suspended = result[KEY];
  return isObject(suspended) && isObject(suspended.questions) ? (suspended as unknown as SuspendedCall) : undefined;
}
