// What a body is given is plain JSON and frozen: the same object comes again in no run, so a change to it would be lost.
import { GatewayError } from '../../shared/errors.ts';

export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

/** The value as the journal will give it back, so that the first run sees nothing that later ones do not. */
export function toPlain(value: unknown, what: string, maxBytes: number): unknown {
  const text = toJson(value, what);
  if (text === undefined) return undefined;
  if (Buffer.byteLength(text) > maxBytes) {
    throw new GatewayError('FLOW_TOO_LARGE', { what, limit: maxBytes });
  }
  return JSON.parse(text) as unknown;
}

function toJson(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new GatewayError('FLOW_MISUSED', { reason: `something that is not JSON as ${what}` }, { cause });
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
