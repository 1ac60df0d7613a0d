// One page of a list on its way from the server: malformed and hidden parts are taken out, then it is compared with what is pinned.
import { callerOfClient } from '../../protocol/exchange.ts';
import type { ClientView, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { ServerView } from '../../protocol/server-view.ts';
import { AREA_BY_LIST_METHOD } from '../../protocol/methods.ts';
import type { CheckedLists } from './checked-lists.ts';
import { nameOf } from './clean-entry.ts';
import type { PinnedLists } from './pins/pinned-lists.ts';

export interface PageFromServer {
  exchange: Pick<Exchange, 'method' | 'params' | 'client'>;
  page: JsonObject;
  server: ServerView;
}

export async function checkListPage(
  { exchange, page, server }: PageFromServer,
  { lists, pins }: { lists: CheckedLists; pins: PinnedLists | undefined },
): Promise<JsonObject> {
  const { method, params, client } = exchange;
  const clean = lists.check(method, page, { cursor: params.cursor, caller: callerOf(client, server) });
  const area = AREA_BY_LIST_METHOD.get(method);
  const listed = area && clean[area];
  // Resources are data, and change all the time.
  if (!pins || !area || area === 'resources' || !Array.isArray(listed)) return clean;
  const entries = listed.filter(isObject);
  const shown = await pins.check({
    area,
    entries: entries.map((entry) => ({ name: nameOf(area, entry), entry, isSuspicious: lists.isSuspicious(entry) })),
    client,
    server,
    cursor: params.cursor,
    nextCursor: clean.nextCursor,
  });
  if (entries.every((entry) => shown.has(nameOf(area, entry)))) return clean;
  return { ...clean, [area]: entries.filter((entry) => shown.has(nameOf(area, entry))) };
}

/** Callers may get lists of their own, and cursors that are the same. */
function callerOf(client: ClientView, { dialect }: ServerView): string {
  return JSON.stringify([callerOfClient(client), client.connection?.session, dialect]);
}
