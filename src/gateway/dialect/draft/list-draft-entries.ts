// Reads all pages of a list, because the draft dialect's bare arrays have no cursor.
import { deriveExchange } from '../../../protocol/derived-exchange.ts';
import type { Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { toPlainObject } from '../../../protocol/raw/raw-object.ts';
import type { Target } from '../../../protocol/target.ts';
import { pages } from '../../../protocol/pages.ts';
import { toHandshakeEntry } from '../handshake/list-entry.ts';
import { DRAFT_VERSION, featuresOf } from '../revisions.ts';

export async function listDraftEntries(exchange: Exchange, target: Target, key: string): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  const fetch = async ({ cursor }: JsonObject) => toPlainObject(await target.handle(withCursor(exchange, cursor)));
  for await (const page of pages({ key, fetch })) entries.push(...(page[key] as JsonObject[]));
  return entries.map((entry) => toHandshakeEntry(entry, featuresOf(DRAFT_VERSION)));
}

/** The same exchange with another cursor. */
function withCursor(exchange: Exchange, cursor: unknown): Exchange {
  return deriveExchange(exchange, { params: cursor === undefined ? exchange.params : { ...exchange.params, cursor } });
}
