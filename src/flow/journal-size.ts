// The size of a journal.
import type { JournalEntry } from './journal.ts';

/** Roughly the bytes of the entries as JSON. */
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
