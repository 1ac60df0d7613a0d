// All pages of a list. Bounded: a server whose cursor leads back to itself must not hold us for ever.
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import type { ClientCallOptions } from './call-options.ts';
import type { Upstream } from '../gateway/upstream/upstream.ts';

const MAX_PAGES = 1000;
const METHOD_NOT_FOUND = -32601;

export interface Listing {
  method: string;
  key: string;
  /** A server that does not declare the area and has no such method simply has none. */
  declared: boolean;
  readonly isEntry: (entry: JsonObject) => boolean;
}

export async function allPages<T>(upstream: Upstream, listing: Listing, options: ClientCallOptions = {}): Promise<T[]> {
  const entries: T[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  do {
    seen.add(cursor);
    const page = await onePage(upstream, listing, cursor, options);
    entries.push(...(page.entries as T[]));
    cursor = page.nextCursor;
  } while (cursor !== undefined && cursor !== null && !seen.has(cursor) && seen.size < MAX_PAGES);
  return entries;
}

async function onePage(
  upstream: Upstream,
  { method, key, declared, isEntry }: Listing,
  cursor: unknown,
  options: ClientCallOptions,
) {
  let result: JsonObject;
  try {
    result = await upstream.call({ ...options, method, params: cursor === undefined ? undefined : { cursor } });
  } catch (thrown) {
    if (!declared && thrown instanceof ProtocolError && thrown.code === METHOD_NOT_FOUND) return { entries: [] };
    throw thrown;
  }
  const list = result[key];
  if (!Array.isArray(list)) {
    const reason = `${method} answered without an array of ${key}`;
    throw new GatewayError('UPSTREAM_INVALID', { server: upstream.server.info.name, reason });
  }
  return { entries: list.filter((entry) => isObject(entry) && isEntry(entry)), nextCursor: result.nextCursor };
}
