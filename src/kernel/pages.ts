// Reads a list page by page. Neither a cursor that leads in a circle nor a list without an end traps the reader.
import { roughBytes } from './message.ts';
import type { JsonObject } from './message.ts';

const MAX_PAGES = 1000;
/** A model cannot use more tools; resources are looked up by programs. */
const MAX_ENTRIES: Record<string, number> = { tools: 1000, prompts: 1000 };
const MAX_OTHERS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

interface PagedList {
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
  const room = { entries: MAX_ENTRIES[key] ?? MAX_OTHERS, bytes: MAX_BYTES };
  for (let cursor: unknown; ;) {
    const page = await fetch(cursor === undefined ? {} : { cursor });
    // To many servers an empty cursor means the end, and asking with it repeats a page.
    if (cursor === '' && earlier.some((entries) => JSON.stringify(entries) === JSON.stringify(page[key]))) return;
    const fitting = fittingEntries(page[key], room);
    if (fitting) {
      yield { ...page, [key]: fitting };
      return onCutOff?.('limit');
    }
    yield page;
    earlier.push(page[key]);
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) return;
    if (cursors.has(cursor)) return onCutOff?.('circle');
    if (cursors.add(cursor).size === MAX_PAGES) return onCutOff?.('limit');
  }
}

/** The first entries of a page, if not all of them fit into the room that is left. */
function fittingEntries(entries: unknown, room: { entries: number; bytes: number }): unknown[] | undefined {
  if (!Array.isArray(entries)) return undefined;
  for (const [index, entry] of entries.entries()) {
    room.entries--;
    room.bytes -= roughBytes(entry, room.bytes);
    if (room.entries < 0 || room.bytes < 0) return entries.slice(0, index);
  }
  return undefined;
}
