// The lists that were fetched for each client of one member. They are dropped with the client.
import type { ClientView } from '../../kernel/exchange.ts';
import { roughBytes } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ListArea } from '../../kernel/methods.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { toShortKey } from '../../kernel/base/short-name.ts';
import { arrivedVia } from '../../kernel/base/via.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';

export type CatalogKind = Exclude<ListArea, 'resourceTemplates'>;

export interface CatalogList {
  entries: JsonObject[];
  ttlMs: number;
  isPrivate: boolean;
  /** Further members of the list, such as `_meta`. */
  more?: JsonObject | undefined;
  /** The member has never listed anything. */
  isUnknown?: boolean | undefined;
}

export function kindOf(area: ListArea): CatalogKind {
  return area === 'resourceTemplates' ? 'resources' : area;
}

/** Limits stateless clients, which never say goodbye, and kinds of clients. */
export const MAX_CLIENTS = 100;

export class ListCache {
  readonly clock: Clock;
  readonly versions: Record<CatalogKind, number> = { tools: 0, prompts: 0, resources: 0 };
  readonly #byClient = new WeakMap<ClientView, ClientLists>();
  readonly #bySignature = new BoundedMap<string, ClientLists>(MAX_CLIENTS);

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(client: ClientView): ClientLists {
    if (!client.era.hasSession) return this.#ofSignature(client);
    const lists = this.#byClient.get(client) ?? new ClientLists(this);
    this.#byClient.set(client, lists);
    return lists;
  }

  outdate(kind: CatalogKind): void {
    this.versions[kind]++;
  }

  #ofSignature({ principal, revision, capabilities }: ClientView): ClientLists {
    const key = toShortKey(JSON.stringify([principal, revision, capabilities, arrivedVia()])); // a request through other gateways may get another list
    return this.#bySignature.getOrCreate(key, () => new ClientLists(this));
  }
}

interface CachedList {
  listed: Promise<CatalogList>;
  /** Set when it has arrived. */
  value?: CatalogList;
  /** The number of changes announced before it was fetched. */
  version: number;
  /** Until when it may be shown, and until when it may be used to find an owner. */
  until: number;
  lookupUntil: number;
}

/** To find an owner, a list of this age will do. */
const LOOKUP_MS = 10_000;
/**
 * Each request for a long list costs processor time. So the list is shown again for several times as long as it took to read and check: a client
 * that asks without a pause does not keep others waiting.
 */
const ENTRY_MS = 0.2;
const MEGABYTE_MS = 50;
/** Shorter lists are read each time. */
const LONG_MS = 40;
const MOST_BYTES = 4_000_000;

export class ClientLists {
  /** What the client was shown while a newer list was being fetched. */
  readonly shown = new Map<ListArea, CatalogList>();
  readonly #cache: ListCache;
  readonly #kept = new Map<ListArea, CachedList>();

  constructor(cache: ListCache) {
    this.#cache = cache;
  }

  get(area: ListArea, isLookup: boolean): Promise<CatalogList> | undefined {
    const kept = this.#kept.get(area);
    if (!kept || kept.version !== this.#version(area)) return undefined;
    return ticksOf(this.#cache.clock) < (isLookup ? kept.lookupUntil : kept.until) ? kept.listed : undefined;
  }

  /** Whether the cached list has arrived. */
  has(area: ListArea): boolean {
    return this.#kept.get(area)?.value !== undefined;
  }

  /** `isTold`: the member announces changes. */
  keep(area: ListArea, listed: Promise<CatalogList>, isTold: boolean): void {
    const forEver = isTold ? Infinity : 0;
    const lookupUntil = ticksOf(this.#cache.clock) + Math.max(LOOKUP_MS, forEver);
    const kept: CachedList = { listed, version: this.#version(area), until: forEver, lookupUntil };
    this.#kept.set(area, kept);
    listed.then(
      (value) => {
        kept.value = value;
        kept.until = Math.max(kept.until, ticksOf(this.#cache.clock) + Math.max(value.ttlMs, leastMs(value)));
      },
      () => this.#kept.get(area) === kept && this.#kept.delete(area),
    );
  }

  #version(area: ListArea): number {
    return this.#cache.versions[kindOf(area)];
  }
}

function leastMs({ entries }: CatalogList): number {
  const ms = entries.length * ENTRY_MS + (roughBytes(entries, MOST_BYTES) / 1_000_000) * MEGABYTE_MS;
  return ms > LONG_MS ? ms : 0;
}
