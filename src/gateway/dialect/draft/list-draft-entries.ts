// A bare array has no room for a cursor, so the draft dialect gets all pages at once. Bounded: a server whose pages never
// end (its cursor leads back to itself) must not hold us for ever.
import type { Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { toPlainObject } from '../../../protocol/raw/raw-object.ts';
import type { Target } from '../../../protocol/target.ts';
import { toHandshakeEntry } from '../handshake/list-entry.ts';
import { DRAFT_VERSION, featuresOf } from '../revisions.ts';

const MAX_PAGES = 100;

export async function listDraftEntries(exchange: Exchange, target: Target, key: string): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  do {
    seen.add(cursor);
    const page = toPlainObject(await target.handle(withCursor(exchange, cursor)));
    entries.push(...(page[key] as JsonObject[]));
    cursor = page.nextCursor;
  } while (cursor !== undefined && !seen.has(cursor) && seen.size < MAX_PAGES);
  return entries.map((entry) => toHandshakeEntry(entry, featuresOf(DRAFT_VERSION)));
}

/** The same exchange, asked for another page. */
function withCursor(exchange: Exchange, cursor: unknown): Exchange {
  const params = cursor === undefined ? exchange.params : { ...exchange.params, cursor };
  return Object.create(exchange, { params: { value: params } }) as Exchange;
}
