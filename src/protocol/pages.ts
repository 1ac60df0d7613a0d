// Reads a list page by page. Neither a cursor that leads in a circle nor a list without an end keeps the reader.
import type { JsonObject } from './message.ts';

const MAX_PAGES = 1000;

export interface PagedList {
  /** Where a page has its entries. */
  key: string;
  /** The params of the first page have no cursor. */
  fetch: (params: { cursor?: unknown }) => Promise<JsonObject>;
  /** Called if the list was left before its end. */
  onCutOff?: (why: 'circle' | 'limit') => void;
}

export async function* pages({ key, fetch, onCutOff }: PagedList): AsyncGenerator<JsonObject, void> {
  const cursors = new Set<unknown>();
  const earlier: unknown[] = [];
  for (let cursor: unknown; ;) {
    const page = await fetch(cursor === undefined ? {} : { cursor });
    // To many servers an empty cursor means the end, and asking with it repeats a page.
    if (cursor === '' && earlier.some((entries) => JSON.stringify(entries) === JSON.stringify(page[key]))) return;
    yield page;
    earlier.push(page[key]);
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) return;
    if (cursors.has(cursor)) return onCutOff?.('circle');
    if (cursors.add(cursor).size === MAX_PAGES) return onCutOff?.('limit');
  }
}
