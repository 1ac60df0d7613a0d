// The names in lists of servers: those that can be taken for each other, and those that come twice.
import { isObject } from '../../../kernel/message.ts';
import { likenessOf } from '../../../kernel/text/likeness.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { MAX_PINS } from '../../../kernel/base/limits.ts';

/** The limit per server; further names are not compared. */
const MAX_NAMES = 10_000;

/** The names of the tools of all servers of a gateway, to find those that can be taken for each other. */
export class KnownNames {
  /** Two spellings by likeness are enough to find another one; for each server. */
  readonly #byServer = new Map<string, Map<string, Set<string>>>();

  /** Learns a page of a list; the first one replaces what was known. */
  learn(server: string, entries: readonly unknown[], isFirst: boolean): void {
    const known = (!isFirst && this.#byServer.get(server)) || new Map<string, Set<string>>();
    this.#byServer.set(server, known);
    for (const entry of entries) {
      const name = isObject(entry) ? entry.name : undefined;
      if (typeof name !== 'string' || known.size >= MAX_NAMES) continue;
      const likeness = likenessOf(name);
      const spellings = known.get(likeness) ?? new Set();
      if (spellings.size < 2) known.set(likeness, spellings.add(name));
    }
  }

  /**
   * Whether the name imitates another one. The same name at two servers is common and does not count, and a name in plain letters imitates
   * nothing.
   */
  isLikeAnother(name: string): boolean {
    const likeness = likenessOf(name);
    if (likeness === name) return false;
    for (const known of this.#byServer.values())
      for (const one of known.get(likeness) ?? []) if (one !== name) return true;
    return false;
  }
}

const MAX_OPEN = 100;

/** Where in which list a page is. */
interface PagePlace {
  /** Which list, of which caller. */
  list: string;
  /** Undefined: it begins the list. */
  cursor: unknown;
  /** Undefined: it ends the list. */
  nextCursor: unknown;
}

interface NamedPage {
  names: Set<string>;
  before: NamedPage | undefined;
  /** With the pages before. */
  count: number;
}

/**
 * The names that a list has had so far, page by page: a name counts once in a list, so that what is compared is what clients use. The pages before
 * stay known, so that a page may be asked for again, and by several clients at the same time.
 */
export class UniqueNames {
  readonly #pages = new BoundedMap<string, NamedPage>(MAX_OPEN);

  /** The entries of a page without those whose name came before in the same list; `onTwice` is called with these. */
  once<T>(
    entries: readonly T[],
    place: PagePlace,
    { nameOf, onTwice }: { nameOf: (entry: T) => string; onTwice: (name: string) => void },
  ): T[] {
    const { list, cursor, nextCursor } = place;
    const key = (at: unknown): string => `${list} ${JSON.stringify(at)}`;
    const before = cursor === undefined ? undefined : this.#pages.get(key(cursor));
    const names = new Set<string>();
    const once = entries.filter((entry) => {
      const name = nameOf(entry);
      const isNew = !names.has(name) && !isNamed(before, name);
      if (isNew) names.add(name);
      else onTwice(name);
      return isNew;
    });
    const count = names.size + (before?.count ?? 0);
    if (nextCursor !== undefined && count <= MAX_PINS) this.#pages.set(key(nextCursor), { names, before, count });
    return once;
  }
}

function isNamed(page: NamedPage | undefined, name: string): boolean {
  for (let one = page; one; one = one.before) if (one.names.has(name)) return true;
  return false;
}
