// Fetches all tools or prompts from the rest of the chain, page by page.
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import type { LookUp } from '../../kernel/step.ts';
import { pages } from '../../kernel/pages.ts';

export async function listAllEntries(lookUp: LookUp, area: 'tools' | 'prompts'): Promise<ListEntry[]> {
  const entries: ListEntry[] = [];
  const fetch = (params: JsonObject) => lookUp(`${area}/list`, params);
  for await (const page of pages({ key: area, fetch })) entries.push(...toListEntries(page[area]));
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
