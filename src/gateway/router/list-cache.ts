// Lists that were fetched for a client and still hold, and the last one that came for clients of its kind. The lists of a
// client go with it.
import type { ClientView } from '../../protocol/exchange.ts';
import { ticksOf } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { arrivedVia } from '../../shared/via.ts';
import type { ListArea, CatalogKind, CatalogList } from './catalog.ts';

interface CachedList {
  listed: Promise<CatalogList>;
  /** Once it has come. */
  value?: CatalogList;
  /** The number of changes that were told of before it was fetched. */
  version: number;
  /** Until when it may be shown, and until when it helps to find an owner. */
  until: number;
  lookupUntil: number;
}

/** To find an owner, a list of this age will do. */
const LOOKUP_MS = 10_000;
/** Of clients of the stateless era, which never say goodbye, and of kinds of clients. */
const MAX_CLIENTS = 100;

/**
 * The last lists that came. Clients that declare other capabilities may be offered other things, but some list is better than none.
 * Another gateway is only shown what came for it: a list may hold its own tools, which would come back to it under ever longer names.
 */
export class LastKnownLists {
  readonly #byKind = new Map<string, CatalogList>();
  readonly #known = new Set<ListArea>();

  set(area: ListArea, client: ClientView, listed: CatalogList): void {
    this.#known.add(area);
    for (const key of [anyKind(area), kindOf(area, client)]) {
      this.#byKind.delete(key);
      this.#byKind.set(key, listed);
    }
    while (this.#byKind.size > MAX_CLIENTS) this.#byKind.delete(this.#byKind.keys().next().value!);
  }

  /** Whether one ever came, for whatever client. */
  has(area: ListArea): boolean {
    return this.#known.has(area);
  }

  get(area: ListArea, client: ClientView): CatalogList | undefined {
    return this.#byKind.get(kindOf(area, client)) ?? this.#byKind.get(anyKind(area));
  }
}

function anyKind(area: ListArea): string {
  return JSON.stringify([area, arrivedVia()]);
}

function kindOf(area: ListArea, { dialect, capabilities }: ClientView): string {
  return JSON.stringify([area, arrivedVia(), dialect, capabilities]);
}

export class ListCache {
  readonly clock: Clock;
  readonly versions: Record<CatalogKind, number> = { tools: 0, prompts: 0, resources: 0 };
  readonly #byClient = new WeakMap<ClientView, ClientLists>();
  readonly #bySignature = new Map<string, ClientLists>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(client: ClientView): ClientLists {
    if (client.dialect === 'stateless') return this.#ofSignature(client);
    const lists = this.#byClient.get(client) ?? new ClientLists(this);
    this.#byClient.set(client, lists);
    return lists;
  }

  outdate(kind: CatalogKind): void {
    this.versions[kind]++;
  }

  #ofSignature({ principal, revision, capabilities }: ClientView): ClientLists {
    const key = JSON.stringify([principal, revision, capabilities, arrivedVia()]); // what went round for one may not for another
    const lists = this.#bySignature.get(key) ?? new ClientLists(this);
    this.#bySignature.delete(key);
    this.#bySignature.set(key, lists); // the last in order is the last that was used
    if (this.#bySignature.size > MAX_CLIENTS) this.#bySignature.delete(this.#bySignature.keys().next().value!);
    return lists;
  }
}

export class ClientLists {
  /** What the client was shown while a newer list was on its way. */
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

  /** Whether the list has come that is kept. */
  has(area: ListArea): boolean {
    return this.#kept.get(area)?.value !== undefined;
  }

  /** `isTold`: a change will be told of. */
  keep(area: ListArea, listed: Promise<CatalogList>, isTold: boolean): void {
    const forEver = isTold ? Infinity : 0;
    const lookupUntil = ticksOf(this.#cache.clock) + Math.max(LOOKUP_MS, forEver);
    const kept: CachedList = { listed, version: this.#version(area), until: forEver, lookupUntil };
    this.#kept.set(area, kept);
    listed.then(
      (value) => {
        kept.value = value;
        kept.until = Math.max(kept.until, ticksOf(this.#cache.clock) + value.ttlMs);
      },
      () => this.#kept.get(area) === kept && this.#kept.delete(area),
    );
  }

  #version(area: ListArea): number {
    return this.#cache.versions[area === 'resourceTemplates' ? 'resources' : area];
  }
}
