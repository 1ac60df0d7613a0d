// Values that a body receives are plain JSON and frozen. Every run gets its own copy, so a change would be lost.
import { GatewayError } from '../../../shared/errors.ts';

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

/** The value as the journal returns it, so that the first run sees the same as a replay. */
export function toJsonValue(value: unknown, what: string, maxBytes: number): unknown {
  const lost = findLost(value, '');
  if (lost) {
    const reason = `${lost.what}${lost.path === '' ? '' : ` at "${lost.path.slice(1)}"`} as ${what}, which JSON cannot hold`;
    throw new GatewayError('FLOW_MISUSED', { flow: 'a flow', reason: `${reason}; convert it to JSON first` });
  }
  const text = toJson(value, what);
  if (text === undefined) return undefined;
  if (Buffer.byteLength(text) > maxBytes) {
    throw new GatewayError('FLOW_TOO_LARGE', { what, limit: maxBytes });
  }
  return JSON.parse(text) as unknown;
}

const MAX_DEPTH = 64;

/** The first part that JSON would change: a Date to a string, a Map to `{}`, NaN to null. */
function findLost(value: unknown, path: string, depth = 0): { what: string; path: string } | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { what: String(value), path };
  if (typeof value === 'function' || typeof value === 'symbol') return { what: `a ${typeof value}`, path };
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return firstLost(value.entries(), path, depth);
  if (isLossy(value)) return { what: `a ${value.constructor.name}`, path };
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  return firstLost(Object.entries(value), path, depth);
}

function firstLost(entries: Iterable<[string | number, unknown]>, path: string, depth: number) {
  for (const [name, inner] of entries) {
    const lost = findLost(inner, `${path}.${name}`, depth + 1);
    if (lost) return lost;
  }
  return undefined;
}

const LOSSY = [Date, Map, Set, WeakMap, WeakSet, RegExp, Error, ArrayBuffer, Promise];

function isLossy(value: object): boolean {
  return LOSSY.some((kind) => value instanceof kind) || ArrayBuffer.isView(value);
}

function toJson(value: unknown, what: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new GatewayError('FLOW_MISUSED', { flow: 'a flow', reason: `${what} is not JSON` }, { cause });
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
