// The names that a list has had so far, page by page: a name counts once in a list, so that what is compared is what clients use.
// The pages before stay known, so that a page may be asked for again, and by several clients at the same time.
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import { MAX_PINS } from '../../shared/limits.ts';

const MAX_OPEN = 100;

/** Where in which list a page is. */
export interface PagePlace {
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

export class UniqueNames {
  readonly #pages = new BoundedMap<string, NamedPage>(MAX_OPEN);

  /** The entries of a page without those whose name came before in the same list; `onTwice` is called with these. */
  once<T>(entries: readonly T[], place: PagePlace, { nameOf, onTwice }: TakenOnce<T>): T[] {
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

interface TakenOnce<T> {
  nameOf: (entry: T) => string;
  onTwice: (name: string) => void;
}

function isNamed(page: NamedPage | undefined, name: string): boolean {
  for (let one = page; one; one = one.before) if (one.names.has(name)) return true;
  return false;
}
