// Removes hidden characters from a definition, at any depth. A name cannot be changed: an entry whose own name, or the name of an argument, has hidden
// characters is not shown at all.
import type { JsonObject } from '../../protocol/message.ts';
import type { ListArea } from '../../protocol/methods.ts';
import { hasHidden, withoutHidden } from '../../shared/text/hidden.ts';

const NAMED_BY: Record<ListArea, string> = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
};

export function nameOf(area: ListArea, entry: JsonObject): string {
  return String(entry[NAMED_BY[area]]);
}

/** In a text they may be meant. In a name they only make it look like another one, or like the lines around it. */
const NOT_IN_NAMES = /[\t\n\r\u2028\u2029\u200b\u2060-\u2064\ufeff]/;

/** Undefined if a name has hidden characters; the same object if nothing has. */
export function cleanEntry(area: ListArea, entry: JsonObject): JsonObject | undefined {
  const name = nameOf(area, entry);
  if (hasHidden(name) || NOT_IN_NAMES.test(name)) return undefined;
  const found = { inName: false };
  const clean = cleaned(entry, found) as JsonObject;
  return found.inName ? undefined : clean;
}

function cleaned(value: unknown, found: { inName: boolean }): unknown {
  if (typeof value === 'string') return withoutHidden(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((one) => cleaned(one, found));
    return all.some((one, index) => one !== value[index]) ? all : value;
  }
  let isChanged = false;
  const members = Object.entries(value).map(([name, one]) => {
    if (hasHidden(name)) found.inName = true;
    const clean = cleaned(one, found);
    isChanged ||= clean !== one;
    return [name, clean] as const;
  });
  return isChanged ? Object.fromEntries(members) : value;
}
