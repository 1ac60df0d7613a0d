// How much room a journal takes.
import type { JournalEntry } from './journal.ts';

/** About as many bytes as it has as JSON: what is exact is the limit, not the count. */
export function estimateSize(entries: readonly JournalEntry[]): number {
  let size = 0;
  for (const entry of entries) {
    const value: unknown = entry.t === 'start' ? entry.input : (entry as { v?: unknown }).v;
    size += 100 + lengthOf(value);
  }
  return size;
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' ? JSON.stringify(value).length : String(value ?? '').length;
}
