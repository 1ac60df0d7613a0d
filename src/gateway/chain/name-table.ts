// One mapping between the names that a step shows and those in the rest of the chain, as far as lists have shown them.
import { isGatewayTool } from '../../kernel/gateway-tool.ts';
import { isRemembered } from '../../kernel/target.ts';
import type { Origin } from '../../kernel/step.ts';
import type { ListEntry } from './list-entries.ts';

/** Returns the entry as clients see it; undefined hides it. `origin`: where it comes from, as far as it is known. */
export type MapEntry = (entry: ListEntry, origin?: Origin) => ListEntry | undefined;

/** Finds the origin of an entry by its name in the rest of the chain. */
export type EntryOrigin = (name: string) => Origin | undefined;

/** Two entries that a step gives the same name. */
interface NameClash {
  name: string;
  owners: [string, string];
}

/**
 * The mapping between shown names and the names in the rest of the chain. It is learned from passing lists and never derived from the form of
 * a name, so it can always be reversed.
 * 1. A shown name belongs to one entry. The gateway's own tool is kept apart, because a server may have one of the same name.
 * 2. After a changed list, old names are kept until newer ones are known, so a server that is away keeps its names.
 */
export class NameTable {
  readonly #map: MapEntry;
  readonly #owners = new Map<string, string>();
  readonly #shown = new Map<string, string | undefined>();
  /** Shown names of what was listed in a former process: they say which server to wait for, and nothing else. */
  readonly #remembered = new Map<string, string>();
  /** Whether the gateway's own tools are shown. */
  readonly #own = new Map<string, boolean>();
  stale = false;

  constructor(map: MapEntry) {
    this.#map = map;
  }

  /** Returns the shown entries, or two entries with the same name. */
  learn(entries: readonly ListEntry[], originOf: EntryOrigin): ListEntry[] | NameClash {
    const shown: ListEntry[] = [];
    for (const entry of entries) {
      const asked = this.#map(entry, originOf(entry.name));
      const isOwn = isGatewayTool(entry);
      const mapped = asked && isOwn ? entry : asked;
      if (isRemembered(entry)) {
        if (mapped) shown.push(mapped);
        if (mapped) this.#remembered.set(mapped.name, entry.name);
        continue;
      }
      if (isOwn) this.#own.set(entry.name, mapped !== undefined);
      else this.#shown.set(entry.name, mapped?.name);
      if (!mapped) continue;
      const owner = this.#owners.get(mapped.name);
      if (owner !== undefined && owner !== entry.name) return { name: mapped.name, owners: [owner, entry.name] };
      if (!isOwn) this.#owners.set(mapped.name, entry.name);
      shown.push(mapped);
    }
    return shown;
  }

  /** The name in the rest of the chain. `isOwn`: it is the gateway's own tool. */
  owner(shown: string, isOwn = false): string | undefined {
    if (isOwn) return this.#own.get(shown) ? shown : undefined;
    return this.#owners.get(shown);
  }

  /** Which name it had in the rest of the chain in a former process. */
  formerOwner(shown: string): string | undefined {
    return this.#remembered.get(shown);
  }

  /** Whether the rest of the chain has this entry, shown or not. */
  has(name: string, isOwn = false): boolean {
    return isOwn ? this.#own.has(name) : this.#shown.has(name);
  }

  /** The shown name; undefined for a hidden entry. An unlisted entry is mapped by its name alone. */
  shownName(own: string, originOf?: EntryOrigin): string | undefined {
    return this.#shown.has(own) ? this.#shown.get(own) : this.#map({ name: own }, originOf?.(own))?.name;
  }
}
