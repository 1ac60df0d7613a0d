// Applies the `migrate` option of a flow to a journal: renames keys, and removes dropped effects.
import type { AnyFlow } from '../../define.ts';
import type { JournalEntry } from '../../journal.ts';
import type { StoredSession } from '../../store/store.ts';

export function migrateJournal(stored: StoredSession, flow: AnyFlow | undefined): StoredSession {
  if (!flow?.options.migrate) return stored;
  const { renamed = {}, dropped = [] } = flow.options.migrate;
  if (dropped.length === 0 && Object.keys(renamed).length === 0) return stored;
  const entries = stored.entries
    .filter((entry) => !((entry.t === 'int' || entry.t === 'step') && isDropped(entry.k, dropped)))
    .map((entry) => ('k' in entry ? rename(entry, renamed) : entry));
  return { ...stored, entries };
}

function rename<E extends Extract<JournalEntry, { k: string }>>(
  entry: E,
  renamed: Readonly<Record<string, string>>,
): E {
  const { scope, name, turn } = splitKey(entry.k);
  const path = `${scope}${name}`;
  if (Object.hasOwn(renamed, path)) return { ...entry, k: `${renamed[path]!}${turn}` };
  return Object.hasOwn(renamed, name) ? { ...entry, k: `${scope}${renamed[name]!}${turn}` } : entry;
}

function isDropped(key: string, dropped: readonly string[]): boolean {
  const { scope, name } = splitKey(key);
  return dropped.includes(name) || dropped.includes(`${scope}${name}`);
}

/** `item.charge#2` is the second `charge` in the scope `item`. */
function splitKey(key: string): { scope: string; name: string; turn: string } {
  const at = key.indexOf('#');
  const [path, turn] = at < 0 ? [key, ''] : [key.slice(0, at), key.slice(at)];
  const dot = path.lastIndexOf('.') + 1;
  return { scope: path.slice(0, dot), name: path.slice(dot), turn };
}
