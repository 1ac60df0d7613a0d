// The names of the tools of all servers of a gateway, to find those that can be taken for each other.
import { isObject } from '../../protocol/message.ts';
import { likenessOf } from '../../shared/text/likeness.ts';

/** The limit per server; further names are not compared. */
const MAX_NAMES = 10_000;

export class KnownNames {
  /** The spellings by likeness, for each server. */
  readonly #byServer = new Map<string, Map<string, Set<string>>>();

  /** Learns a page of a list; the first one replaces what was known. */
  learn(server: string, entries: readonly unknown[], isFirst: boolean): void {
    const known = (!isFirst && this.#byServer.get(server)) || new Map<string, Set<string>>();
    this.#byServer.set(server, known);
    for (const entry of entries) {
      const name = isObject(entry) ? entry.name : undefined;
      if (typeof name !== 'string' || known.size >= MAX_NAMES) continue;
      const likeness = likenessOf(name);
      known.set(likeness, (known.get(likeness) ?? new Set()).add(name));
    }
  }

  /**
   * Whether the name imitates another one. The same name at two servers is common and does not count, and a name in plain letters imitates
   * nothing.
   */
  isLikeAnother(name: string): boolean {
    const likeness = likenessOf(name);
    if (likeness === name) return false;
    return [...this.#byServer.values()].some((known) => [...(known.get(likeness) ?? [])].some((one) => one !== name));
  }
}
