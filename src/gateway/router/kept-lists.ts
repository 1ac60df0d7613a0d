// Lists that were fetched for a client and still hold, and the last one that came for clients of its kind. A shelf goes with
// its client.
import type { ClientView } from '../../protocol/exchange.ts';
import { ticksOf } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { arrivedVia } from '../../shared/via.ts';
import type { Area, Kind, Listed } from './catalog.ts';

interface Kept {
  listed: Promise<Listed>;
  /** Once it has come. */
  value?: Listed;
  /** The number of changes that were told of before it was fetched. */
  version: number;
  /** Until when it may be shown, and until when it helps to find an owner. */
  until: number;
  lookupUntil: number;
}

/** To find an owner, a list of this age will do. */
const LOOKUP_MS = 10_000;
/** Shelves of the stateless era, where no one says goodbye, and kinds of clients. */
const MAX_SHELVES = 100;

/**
 * The last lists that came. Clients that declare other capabilities may be offered other things, but some list is better than none.
 * Another gateway is only shown what came for it: a list may hold its own tools, which would come back to it under ever longer names.
 */
export class LastLists {
  readonly #byKind = new Map<string, Listed>();
  readonly #known = new Set<Area>();

  set(area: Area, client: ClientView, listed: Listed): void {
    this.#known.add(area);
    for (const key of [anyKind(area), kindOf(area, client)]) {
      this.#byKind.delete(key);
      this.#byKind.set(key, listed);
    }
    while (this.#byKind.size > MAX_SHELVES) this.#byKind.delete(this.#byKind.keys().next().value!);
  }

  /** Whether one ever came, for whatever client. */
  has(area: Area): boolean {
    return this.#known.has(area);
  }

  get(area: Area, client: ClientView): Listed | undefined {
    return this.#byKind.get(kindOf(area, client)) ?? this.#byKind.get(anyKind(area));
  }
}

function anyKind(area: Area): string {
  return JSON.stringify([area, arrivedVia()]);
}

function kindOf(area: Area, { dialect, capabilities }: ClientView): string {
  return JSON.stringify([area, arrivedVia(), dialect, capabilities]);
}

export class Shelves {
  readonly clock: Clock;
  readonly versions: Record<Kind, number> = { tools: 0, prompts: 0, resources: 0 };
  readonly #byClient = new WeakMap<ClientView, Shelf>();
  readonly #bySignature = new Map<string, Shelf>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(client: ClientView): Shelf {
    if (client.dialect === 'stateless') return this.#ofSignature(client);
    const shelf = this.#byClient.get(client) ?? new Shelf(this);
    this.#byClient.set(client, shelf);
    return shelf;
  }

  outdate(kind: Kind): void {
    this.versions[kind]++;
  }

  #ofSignature({ principal, revision, capabilities }: ClientView): Shelf {
    const key = JSON.stringify([principal, revision, capabilities, arrivedVia()]); // what went round for one may not for another
    const shelf = this.#bySignature.get(key) ?? new Shelf(this);
    this.#bySignature.delete(key);
    this.#bySignature.set(key, shelf); // the last in order is the last that was used
    if (this.#bySignature.size > MAX_SHELVES) this.#bySignature.delete(this.#bySignature.keys().next().value!);
    return shelf;
  }
}

export class Shelf {
  /** What the client was shown while a newer list was on its way. */
  readonly shown = new Map<Area, Listed>();
  readonly #shelves: Shelves;
  readonly #kept = new Map<Area, Kept>();

  constructor(shelves: Shelves) {
    this.#shelves = shelves;
  }

  get(area: Area, isLookup: boolean): Promise<Listed> | undefined {
    const kept = this.#kept.get(area);
    if (!kept || kept.version !== this.#version(area)) return undefined;
    return ticksOf(this.#shelves.clock) < (isLookup ? kept.lookupUntil : kept.until) ? kept.listed : undefined;
  }

  /** Whether the list has come that is kept. */
  has(area: Area): boolean {
    return this.#kept.get(area)?.value !== undefined;
  }

  /** `isTold`: a change will be told of. */
  keep(area: Area, listed: Promise<Listed>, isTold: boolean): void {
    const forEver = isTold ? Infinity : 0;
    const lookupUntil = ticksOf(this.#shelves.clock) + Math.max(LOOKUP_MS, forEver);
    const kept: Kept = { listed, version: this.#version(area), until: forEver, lookupUntil };
    this.#kept.set(area, kept);
    listed.then(
      (value) => {
        kept.value = value;
        kept.until = Math.max(kept.until, ticksOf(this.#shelves.clock) + value.ttlMs);
      },
      () => this.#kept.get(area) === kept && this.#kept.delete(area),
    );
  }

  #version(area: Area): number {
    return this.#shelves.versions[area === 'resourceTemplates' ? 'resources' : area];
  }
}
