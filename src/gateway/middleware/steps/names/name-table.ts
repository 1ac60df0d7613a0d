// What a step has made of the names behind it. Reversible by construction: a table filled by the lists that pass, never a
// rule for taking names apart.
// 1. A name that is shown belongs to one entry. The tool of the gateway's own is kept apart: a server may call one of its tools the same.
// 2. What a changed list may have made untrue is kept until there is something newer: a server that is away keeps its names.
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';
import type { Origin } from '../../../../protocol/step.ts';
import type { ListEntry } from '../../chain/list-entries.ts';

/** The entry as clients should see it, under whatever name; undefined hides it. `origin`: where it comes from, as far as that is known. */
export type MapEntry = (entry: ListEntry, origin?: Origin) => ListEntry | undefined;

/** Where entries of one area come from, by the names they have further in. */
export type EntryOrigin = (name: string) => Origin | undefined;

/** Two entries for which a step wants the same name. */
export interface NameClash {
  name: string;
  owners: [string, string];
}

export class NameTable {
  readonly #map: MapEntry;
  readonly #owners = new Map<string, string>();
  readonly #shown = new Map<string, string | undefined>();
  /** Whether tools of the gateway's own are shown. */
  readonly #own = new Map<string, boolean>();
  stale = false;

  constructor(map: MapEntry) {
    this.#map = map;
  }

  /** The entries as they are to be shown, or the names that cannot be kept apart. */
  learn(entries: readonly ListEntry[], originOf: EntryOrigin): ListEntry[] | NameClash {
    const shown: ListEntry[] = [];
    for (const entry of entries) {
      const asked = this.#map(entry, originOf(entry.name));
      const isOwn = isGatewayTool(entry);
      const mapped = asked && isOwn ? entry : asked;
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

  /** What the rest of the chain calls it. `isOwn`: it is the tool of the gateway's own. */
  owner(shown: string, isOwn = false): string | undefined {
    if (isOwn) return this.#own.get(shown) ? shown : undefined;
    return this.#owners.get(shown);
  }

  /** Whether the rest of the chain has an entry of this name, shown or not. */
  has(name: string, isOwn = false): boolean {
    return isOwn ? this.#own.has(name) : this.#shown.has(name);
  }

  /** The name it is shown by; undefined for what is hidden. Of what was never listed only the name is known. */
  shownName(own: string, originOf?: EntryOrigin): string | undefined {
    return this.#shown.has(own) ? this.#shown.get(own) : this.#map({ name: own }, originOf?.(own))?.name;
  }
}
