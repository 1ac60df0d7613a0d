// How much room a journal takes.
import type { Entry } from './journal.ts';

/** About as many bytes as it has as JSON: what is exact is the limit, not the count. */
export function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => {
    const value: unknown = 'v' in entry ? entry.v : 'input' in entry ? entry.input : undefined;
    return sum + 100 + (typeof value === 'object' ? JSON.stringify(value).length : String(value ?? '').length);
  }, 0);
}
