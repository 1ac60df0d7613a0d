// Splits lists into pages. A cursor is base64 of {"offset":n}; any other cursor may belong to a provider.
import type { Exchange } from '../../kernel/exchange.ts';
import { isObject, readOptionalString, toInvalid } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ServerOptions } from './types.ts';

export interface ListPage<T> {
  items: T[];
  nextCursor?: string;
}

/** A list result: one page under its name, and the cache hints. */
export function toListResult(name: string, items: readonly JsonObject[], context: ListContext): JsonObject {
  const cursor = readOptionalString(context.exchange.params, 'cursor');
  const page = toPage(items, cursor, context.options.pageSize);
  return toPageResult(name, page, context.options);
}

interface ListContext {
  exchange: Exchange;
  options: ServerOptions;
}

export function toPageResult(name: string, page: ListPage<JsonObject>, options: ServerOptions): JsonObject {
  const { items, nextCursor } = page;
  return { [name]: items, ...(nextCursor === undefined ? {} : { nextCursor }), ...toCacheHints(options) };
}

export function toCacheHints(options: ServerOptions): { ttlMs: number; cacheScope: 'public' | 'private' } {
  return { ttlMs: options.cache?.ttlMs ?? 0, cacheScope: options.cache?.cacheScope ?? 'private' };
}

export function toPage<T>(items: readonly T[], cursor: string | undefined, size = 100): ListPage<T> {
  const offset = cursor === undefined ? 0 : fromCursor(cursor);
  if (offset === undefined || offset > items.length) throw toInvalid('cursor', 'Invalid cursor');
  const end = offset + size;
  const page = { items: items.slice(offset, end) };
  return end < items.length ? { ...page, nextCursor: toCursor(end) } : page;
}

export function toCursor(offset: number): string {
  return Buffer.from(JSON.stringify({ offset })).toString('base64');
}

/** Undefined if it is not one of ours. */
export function fromCursor(cursor: string): number | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64').toString());
    const offset = isObject(parsed) ? parsed['offset'] : undefined;
    return Number.isSafeInteger(offset) && (offset as number) >= 0 ? (offset as number) : undefined;
  } catch {
    // Not base64 of JSON, so not ours.
    return undefined;
  }
}
