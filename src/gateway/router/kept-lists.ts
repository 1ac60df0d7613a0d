// Lists that were fetched for a client and still hold. A shelf goes with its client.
import type { ClientView } from '../../protocol/exchange.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Area, Kind, Listed } from './catalog.ts';

interface Kept {
  listed: Promise<Listed>;
  /** The number of changes that were told of before it was fetched. */
  version: number;
  /** Until when it may be shown, and until when it helps to find an owner. */
  until: number;
  lookupUntil: number;
}

/** To find an owner, a list of this age will do. */
const LOOKUP_MS = 10_000;
/** Shelves of the stateless era, where no one says goodbye. */
const MAX_SHELVES = 100;

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
    const key = JSON.stringify([principal, revision, capabilities]);
    const shelf = this.#bySignature.get(key) ?? new Shelf(this);
    this.#bySignature.delete(key);
    this.#bySignature.set(key, shelf); // the last in order is the last that was used
    if (this.#bySignature.size > MAX_SHELVES) this.#bySignature.delete(this.#bySignature.keys().next().value!);
    return shelf;
  }
}

export class Shelf {
  /** Lists that were asked for and have not come in time. */
  readonly overdue = new Set<Area>();
  readonly #shelves: Shelves;
  readonly #kept = new Map<Area, Kept>();

  constructor(shelves: Shelves) {
    this.#shelves = shelves;
  }

  get(area: Area, isLookup: boolean): Promise<Listed> | undefined {
    const kept = this.#kept.get(area);
    if (!kept || kept.version !== this.#version(area)) return undefined;
    return this.#shelves.clock.now() < (isLookup ? kept.lookupUntil : kept.until) ? kept.listed : undefined;
  }

  /** `isTold`: a change will be told of. */
  keep(area: Area, listed: Promise<Listed>, isTold: boolean): void {
    const forEver = isTold ? Infinity : 0;
    const lookupUntil = this.#shelves.clock.now() + Math.max(LOOKUP_MS, forEver);
    const kept: Kept = { listed, version: this.#version(area), until: forEver, lookupUntil };
    this.#kept.set(area, kept);
    listed.then(
      ({ ttlMs }) => (kept.until = Math.max(kept.until, this.#shelves.clock.now() + ttlMs)),
      () => this.#kept.get(area) === kept && this.#kept.delete(area),
    );
  }

  #version(area: Area): number {
    return this.#shelves.versions[area === 'resourceTemplates' ? 'resources' : area];
  }
}
