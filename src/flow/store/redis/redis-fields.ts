// Converts a header to and from the fields of a Redis hash, one JSON text each. `current` has its own key, since a hash with a long value
// takes three times the memory.
import type { Header } from '../../journal.ts';

/** Fields and values in turn, and the fields to remove. */
export function toHashFields(part: Partial<Header>): { set: string[]; remove: string[] } {
  const [set, remove]: [string[], string[]] = [[], []];
  for (const [name, value] of Object.entries(part)) {
    if (value === undefined) remove.push(name);
    else set.push(name, JSON.stringify(value));
  }
  return { set, remove };
}

export function parseHeader(fields: string[], current: string | null): Header {
  const members = [`"current":${current ?? '[]'}`];
  for (let at = 0; at < fields.length; at += 2) {
    // Fields that begin with a colon belong to the store.
    if (!fields[at]!.startsWith(':')) members.push(`"${fields[at]!}":${fields[at + 1]!}`);
  }
  return JSON.parse(`{${members.join(',')}}`) as Header;
}
