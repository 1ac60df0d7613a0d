// Reads all pages of a list, because the draft dialect's bare arrays have no cursor. The number of pages is limited, in
// case a server's cursor never ends.
import { deriveExchange } from '../../../protocol/derived-exchange.ts';
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

/** The same exchange with another cursor. */
function withCursor(exchange: Exchange, cursor: unknown): Exchange {
  return deriveExchange(exchange, { params: cursor === undefined ? exchange.params : { ...exchange.params, cursor } });
}
