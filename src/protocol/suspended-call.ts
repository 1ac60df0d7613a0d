// A call that returns questions and is repeated with the answers; nothing is kept in between. The questions travel in
// the result under a reserved key, so that steps pass them on like any other result.
import type { JsonObject } from './message.ts';
import { isObject } from './message.ts';
import type { ResultObject } from './raw/raw-object.ts';
import { RawObject } from './raw/raw-object.ts';

export interface SuspendedCall {
  questions: { [key: string]: { method: string; params?: JsonObject | undefined } };
  /** Returned unchanged with the answers, if present. */
  state: string | undefined;
  /** How long the answers may take. Default: as long as other calls wait for theirs. */
  lastsMs?: number | undefined;
}

/** The answers when the call is repeated. */
export interface ResumedCall {
  state: string | undefined;
  answers: JsonObject;
  /** The server that asked, if there are several. */
  server: string | undefined;
}

const KEY = 'mcp-parley/suspended';

export function toSuspended(suspended: SuspendedCall): JsonObject {
  return { [KEY]: suspended };
}

/** Undefined for an unparsed result: those are never suspended. */
export function readSuspended(result: ResultObject): SuspendedCall | undefined {
  if (!isObject(result) || result instanceof RawObject) return undefined;
  const suspended = result[KEY];
  return isObject(suspended) && isObject(suspended.questions) ? (suspended as unknown as SuspendedCall) : undefined;
}
