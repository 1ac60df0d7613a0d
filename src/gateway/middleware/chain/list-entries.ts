// Fetches all tools or prompts from the rest of the chain, page by page.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { LookUp } from '../../../protocol/step.ts';

/** Ends an endless list. */
const MAX_PAGES = 1000;

export async function listAllEntries(lookUp: LookUp, area: 'tools' | 'prompts'): Promise<ListEntry[]> {
  const entries: ListEntry[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  do {
    seen.add(cursor);
    const page = await lookUp(`${area}/list`, cursor === undefined ? {} : { cursor });
    entries.push(...toListEntries(page[area]));
    cursor = page.nextCursor;
  } while (cursor !== undefined && !seen.has(cursor) && seen.size < MAX_PAGES);
  return entries;
}

/** An entry of a list of tools or prompts. */
export type ListEntry = JsonObject & { name: string };

export function toListEntries(entries: unknown): ListEntry[] {
  return Array.isArray(entries) ? entries.filter(isListed) : [];
}

function isListed(entry: unknown): entry is ListEntry {
  return isObject(entry) && typeof entry.name === 'string';
}
