// Maps the names of tools or prompts for one step. It keeps one table per chain, because a name may mean different things behind
// /mcp and /mcp/<server>.
import type { LookUp, OriginOf, StepExchange, Origin } from '../../../../protocol/step.ts';
import type { Change } from '../../../../protocol/target.ts';
import { BoundedMap } from '../../../../shared/containers/bounded-map.ts';
import { listAllEntries } from '../../chain/list-entries.ts';
import type { ListEntry } from '../../chain/list-entries.ts';
import { misuseError } from '../../chain/step-error.ts';
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';

/** More chains than a gateway has. */
const MAX_TABLES = 256;

/** How a step queries the rest of the chain. */
export interface ChainLookup {
  lookUp: LookUp;
  originOf: OriginOf | undefined;
}

type ToolsChange = Extract<Change, { kind: 'tools' }>;

export class NameMapper {
  readonly #step: string;
  readonly #area: 'tools' | 'prompts';
  readonly #map: MapEntry;
  readonly #tables = new BoundedMap<string, NameTable>(MAX_TABLES);
  /** The table used last; mostly the only one. */
  #last: { scope: string; table: NameTable } | undefined;

  constructor(step: string, area: 'tools' | 'prompts', map: MapEntry) {
    this.#step = step;
    this.#area = area;
    this.#map = map;
  }

  /** The entries as clients see them. */
  async show(entries: ListEntry[], { scope }: StepExchange, { lookUp, originOf }: ChainLookup): Promise<ListEntry[]> {
    const origin = this.#originIn(originOf);
    const shown = this.#table(scope).learn(entries, origin);
    if (Array.isArray(shown)) return shown;
    // The clash may be with an entry that no longer exists: only a complete list can tell.
    await this.#renew(scope, { lookUp, originOf });
    return entries.flatMap((entry) => this.#map(entry, origin(entry.name)) ?? []);
  }

  /** The name in the rest of the chain, if it is known and current. */
  known(name: string, { scope, ownTool }: StepExchange): string | undefined {
    const table = this.#table(scope);
    return table.stale ? undefined : table.owner(name, ownTool?.name === name);
  }

  /** The same, fetching the list if necessary. `unlisted`: neither shown nor withheld. */
  async resolve(
    name: string,
    { scope, ownTool }: StepExchange,
    around: ChainLookup,
  ): Promise<{ own: string } | 'kept back' | 'unlisted'> {
    let table = this.#table(scope);
    const isOwn = ownTool?.name === name;
    const known = table.owner(name, isOwn);
    if (known === undefined || table.stale) {
      try {
        table = await this.#renew(scope, around);
      } catch (thrown) {
        if (known === undefined) throw thrown; // the server is away, so the known name is used
      }
    }
    const own = table.owner(name, isOwn);
    if (own !== undefined) return { own };
    return table.has(name, isOwn) ? 'kept back' : 'unlisted';
  }

  /** Why the server of an unlisted name is not available; undefined if it is, or if the step would hide the name. */
  away(name: string, originOf: OriginOf | undefined): Error | undefined {
    const origin = this.#originIn(originOf)(name);
    const reason = origin?.away?.();
    return reason && this.#map({ name }, origin) ? reason : undefined;
  }

  /** The name in the rest of the chain, as far as it is known. */
  behind(name: string, scope: string): string | undefined {
    return this.#tables.get(scope)?.owner(name);
  }

  changed(): void {
    for (const [, table] of this.#tables.entries()) table.stale = true;
  }

  /** The change under the clients' names; undefined if they cannot see any of it. */
  toldOf(change: ToolsChange, originOf?: OriginOf): ToolsChange | undefined {
    this.changed();
    const origin = this.#originIn(originOf);
    const added = change.added?.flatMap((tool) => this.#shownTool(tool, origin) ?? []);
    const removed = change.removed?.flatMap((name) => this.shownName(name, originOf) ?? []);
    const told = (change.added?.length ?? 0) + (change.removed?.length ?? 0);
    if (told > 0 && (added?.length ?? 0) + (removed?.length ?? 0) === 0) return undefined;
    return { ...change, ...(added && { added }), ...(removed && { removed }) };
  }

  #shownTool(tool: NonNullable<ToolsChange['added']>[number], origin: EntryOrigin): typeof tool | undefined {
    const mapped = this.#map({ ...tool }, origin(tool.name));
    if (!mapped) return undefined;
    const { name, description = tool.description } = mapped;
    return { name, ...(typeof description === 'string' && { description }) };
  }

  /** The shown name, as far as it is known. */
  shownName(own: string, originOf?: OriginOf): string | undefined {
    const table = this.#tables.entries().find(([, table]) => table.has(own))?.[1] ?? new NameTable(this.#map);
    return table.shownName(own, this.#originIn(originOf));
  }

  #table(scope: string): NameTable {
    if (this.#last?.scope === scope) return this.#last.table;
    return this.#keep(scope, this.#tables.get(scope) ?? new NameTable(this.#map));
  }

  #keep(scope: string, table: NameTable): NameTable {
    this.#tables.set(scope, table);
    this.#last = { scope, table };
    return table;
  }

  #originIn(originOf: OriginOf | undefined): EntryOrigin {
    return (name) => originOf?.(this.#area, name);
  }

  async #renew(scope: string, { lookUp, originOf }: ChainLookup): Promise<NameTable> {
    const table = new NameTable(this.#map);
    const shown = table.learn(await listAllEntries(lookUp, this.#area), this.#originIn(originOf));
    if (!Array.isArray(shown)) {
      const [one, other] = shown.owners;
      throw misuseError(this.#step, `gives the name "${shown.name}" to both "${one}" and "${other}"`);
    }
    return this.#keep(scope, table);
  }
}

/** Returns the entry as clients see it; undefined hides it. `origin`: where it comes from, as far as it is known. */
export type MapEntry = (entry: ListEntry, origin?: Origin) => ListEntry | undefined;

/** Finds the origin of an entry by its name in the rest of the chain. */
export type EntryOrigin = (name: string) => Origin | undefined;

/** Two entries that a step gives the same name. */
export interface NameClash {
  name: string;
  owners: [string, string];
}

/**
 * The mapping between shown names and the names in the rest of the chain. It is learned from passing lists and never derived from the form of
 * a name, so it can always be reversed.
 * 1. A shown name belongs to one entry. The gateway's own tool is kept apart, because a server may have one of the same name.
 * 2. After a changed list, old names are kept until newer ones are known, so a server that is away keeps its names.
 */
class NameTable {
  readonly #map: MapEntry;
  readonly #owners = new Map<string, string>();
  readonly #shown = new Map<string, string | undefined>();
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

  /** Whether the rest of the chain has this entry, shown or not. */
  has(name: string, isOwn = false): boolean {
    return isOwn ? this.#own.has(name) : this.#shown.has(name);
  }

  /** The shown name; undefined for a hidden entry. An unlisted entry is mapped by its name alone. */
  shownName(own: string, originOf?: EntryOrigin): string | undefined {
    return this.#shown.has(own) ? this.#shown.get(own) : this.#map({ name: own }, originOf?.(own))?.name;
  }
}
