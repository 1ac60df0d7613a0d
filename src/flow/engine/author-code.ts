// The one place where functions of authors are called, and where the values that they return or throw are read and made JSON. Whatever happens
// there becomes a mistake of the flow (FLOW_MISUSED), which fails the session, or parks it if its version is new. Nothing else throws.
// 1. A function that must answer at once and returns a promise is a mistake, too; the promise is never left unhandled.
// 2. A value is read once: what was checked is what is kept, even if its getters return something else later.
import { GatewayError } from '../../kernel/base/errors.ts';

/** Calls a function of the author that answers at once. `what` names it, for the log and for the operator. */
export function callAuthor<T>(what: string, work: () => T): T {
  return atOnce(what, guarded(what, work));
}

/** Calls a function of the author that may take time, such as an asynchronous schema. */
export async function awaitAuthor<T>(what: string, work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toMistake(what, thrown);
  }
}

/** Runs code that reads what an author gave: its getters, its length, its iterators. */
export function guarded<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw toMistake(what, thrown);
  }
}

/** The message for peers does not repeat the error of the author's code: it is an accident, and may have anything in it. The log has it. */
export function toMistake(what: string, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError && KNOWN.has(thrown.code)) return thrown;
  if (thrown instanceof GatewayError) return misused(`${what}: ${thrown.message}`, thrown);
  return misused(`${what} threw ${nameOf(thrown)}`, thrown);
}

const KNOWN: ReadonlySet<string> = new Set(['FLOW_MISUSED', 'FLOW_CHANGED', 'FLOW_TOO_LARGE', 'FLOW_LIMIT']);

function misused(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('FLOW_MISUSED', { reason }, cause === undefined ? undefined : { cause });
}

function atOnce<T>(what: string, made: T): T {
  if (!isThenable(what, made)) return made;
  Promise.resolve(made).catch(() => {}); // nobody waits for it
  throw misused(`${what} is asynchronous; it must answer at once, so do that in ask.step`);
}

function isThenable(what: string, made: unknown): made is PromiseLike<unknown> {
  if (typeof made !== 'object' || made === null) return false;
  return guarded(what, () => typeof (made as { then?: unknown }).then === 'function');
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? readText(() => thrown.name, 'an error') : 'a value other than an error';
}

/** What is known of anything that was thrown. Its getters may throw as well. */
export interface ThrownValue {
  name: string;
  message: string;
  /** As JSON. */
  data?: unknown;
}

export function readThrown(thrown: unknown): ThrownValue {
  if (!(thrown instanceof Error)) return { name: 'Error', message: readText(() => thrown, UNREADABLE) };
  const data = readData(() => (thrown as { data?: unknown }).data);
  const read = { name: readText(() => thrown.name, 'Error'), message: readText(() => thrown.message, UNREADABLE) };
  return data === undefined ? read : { ...read, data };
}

const UNREADABLE = 'an error that cannot be read';

function readText(read: () => unknown, otherwise: string): string {
  try {
    return String(read());
  } catch {
    return otherwise; // its getter, or its toString, throws
  }
}

/** A copy as JSON; undefined if it is not JSON. */
export function readData(read: () => unknown): unknown {
  try {
    const text = JSON.stringify(read()) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // its getter throws, or it has a BigInt or a cycle
  }
}

/** The value as the journal returns it, so that the first run sees the same as a replay. */
export function toJsonValue(value: unknown, what: string, maxBytes = Infinity): unknown {
  const text = guarded(what, () => toJson(value, what));
  if (text === undefined) return undefined;
  if (Buffer.byteLength(text) > maxBytes) {
    throw new GatewayError('FLOW_TOO_LARGE', { what, limit: maxBytes });
  }
  return JSON.parse(text) as unknown;
}

/** The same for a value that is kept with a question; most are texts and numbers, which need no copy. */
export function toPlainValue(value: unknown, what: () => string): unknown {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined;
  return isPlain || (typeof value === 'number' && Number.isFinite(value)) ? value : toJsonValue(value, what());
}

/** Throws unless it is text, or absent. */
export function requireText(value: unknown, what: string): void {
  if (value !== undefined && typeof value !== 'string') throw misused(`${what} that is not text`);
}

/** Throws unless the numbers are finite and the message is text. */
export function checkProgress(current: unknown, total: unknown, message: unknown): void {
  for (const value of total === undefined ? [current] : [current, total]) {
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    throw misused(
      `progress with ${typeof value === 'number' ? String(value) : `a ${typeof value}`} instead of a number`,
    );
  }
  requireText(message, 'progress with a message');
}

function toJson(value: unknown, what: string): string | undefined {
  const lost = findLost(value, '');
  if (lost) {
    const place = lost.path === '' ? '' : ` at "${lost.path.slice(1)}"`;
    throw misused(`${lost.what}${place} as ${what}, which JSON cannot hold; convert it to JSON first`);
  }
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw misused(`${what} is not JSON`, cause);
  }
}

const MAX_DEPTH = 64;

/** The first part that JSON would change: a Date to a string, a Map to `{}`, NaN to null. */
function findLost(value: unknown, path: string, depth = 0): { what: string; path: string } | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { what: String(value), path };
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return { what: `a ${typeof value}`, path };
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
