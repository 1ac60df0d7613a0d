// What one member offers, as each client is told it.
// 1. A list is fetched when a client asks for it. It is kept while the member would tell that client of a change, and for as
//    long as the member says; to find out who owns a name, a list may be a little older.
// 2. A member that is away, or slow, keeps nobody waiting for long, nor twice for one list: it has the lists it was last known
//    by, each entry marked. One that was never there offers nothing; `onLate` tells when a list that nobody waited for has come.
// 3. Clients may be offered different things, so lists are kept by client; those of the stateless era, who have no sessions,
//    by what they say of themselves.
import type { ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { QuietExchange } from '../../protocol/quiet-exchange.ts';
import { toPlain } from '../../protocol/raw-object.ts';
import type { Opening } from '../../protocol/target.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { Shelves } from './kept-lists.ts';
import type { Shelf } from './kept-lists.ts';
import type { Member } from './member.ts';

export type Area = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';
export type Kind = Exclude<Area, 'resourceTemplates'>;

export interface Listed {
  entries: JsonObject[];
  ttlMs: number;
  isPrivate: boolean;
  /** The member has never told what it offers. */
  isUnknown?: boolean | undefined;
}

export interface CatalogOptions {
  clock: Clock;
  log: Log;
  /** How long clients may be kept waiting for a member that starts, or is slow to list. */
  startMs: number;
}

export const LIST_METHODS: Record<Area, string> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
};

const NOTHING: Listed = { entries: [], ttlMs: 0, isPrivate: false };
const MAX_PAGES = 1000;
/** Set on the entries of a member that is away. */
export const UNAVAILABLE = 'mcp-parley/unavailable';

export class Catalog {
  /** Told when a list has come that nobody was kept waiting for. */
  onLate: (kind: Kind) => void = () => {};
  readonly #member: Member;
  readonly #options: CatalogOptions;
  readonly #shelves: Shelves;
  /** Whoever it was that was told: it is in neutral words. */
  readonly #lastGood = new Map<Area, Listed>();
  /** From then on nobody waits for the member to start. */
  #waitUntil: number | undefined;

  constructor(member: Member, options: CatalogOptions) {
    this.#member = member;
    this.#options = options;
    this.#shelves = new Shelves(options.clock);
  }

  /** Whether it is known what the member offers, or why that is not known; false when it is still starting. */
  async ready(opening?: Opening): Promise<boolean> {
    const { clock, startMs } = this.#options;
    this.#waitUntil ??= clock.now() + startMs;
    const isKnown = Promise.resolve(this.#member.target.ready?.(opening)).then(() => true);
    const isInTime = (await this.#patiently(isKnown, this.#waitUntil - clock.now())) ?? false;
    if (isInTime) this.#waitUntil = undefined;
    return isInTime;
  }

  /** `isLookup`: to find an owner, not to be shown. */
  async list(area: Area, client: ClientView, isLookup = false): Promise<Listed> {
    if (!(await this.ready(client))) return this.#lastKnown(area, 'it is still starting');
    const capability = this.#member.target.capabilities(client)[kindOf(area)];
    if (!capability) return this.#lastGood.get(area) ?? NOTHING;
    const shelf = this.#shelves.of(client);
    if (shelf.overdue.has(area)) return this.#lastKnown(area, tooSlow(area));
    const isAway = this.#member.target.status?.state === 'failing';
    const kept = isAway ? undefined : shelf.get(area, isLookup);
    if (kept) return this.#inTime(area, kept, shelf);
    const isTold = capability.listChanged === true && client.dialect !== 'stateless';
    const listed = this.#fetch(area, client);
    shelf.keep(area, listed, isTold);
    return this.#inTime(area, listed, shelf);
  }

  /** Something of this kind has changed. */
  forget(kind: Kind): void {
    this.#shelves.outdate(kind);
  }

  /** Who asks again while it has not come is not kept waiting again. */
  async #inTime(area: Area, fetching: Promise<Listed>, { overdue }: Shelf): Promise<Listed> {
    const listed = await this.#patiently(fetching, this.#options.startMs).catch((error: unknown) => {
      this.#options.log.warn({ server: this.#member.name, area, error }, 'list.failed');
      return this.#lastKnown(area, error instanceof Error ? error.message : String(error));
    });
    if (listed) return listed;
    overdue.add(area);
    const isOver = fetching.finally(() => overdue.delete(area));
    isOver.then(() => this.onLate(kindOf(area))).catch(() => {}); // told by the next list
    return this.#lastKnown(area, tooSlow(area));
  }

  async #fetch(area: Area, client: ClientView): Promise<Listed> {
    const entries: JsonObject[] = [];
    const seen = new Set<unknown>();
    let cursor: unknown;
    let page: JsonObject;
    do {
      seen.add(cursor);
      const params = cursor === undefined ? {} : { cursor };
      page = await this.#page(new QuietExchange(LIST_METHODS[area], params, client));
      if (Array.isArray(page[area])) entries.push(...(page[area] as unknown[]).filter(isObject));
      cursor = page.nextCursor;
    } while (cursor !== undefined && !seen.has(cursor) && seen.size < MAX_PAGES);
    const listed = { entries, ttlMs: Number(page.ttlMs ?? 0), isPrivate: page.cacheScope !== 'public' };
    this.#lastGood.set(area, listed);
    return listed;
  }

  /** Many a server with resources has no list of templates. */
  async #page(exchange: QuietExchange): Promise<JsonObject> {
    try {
      return toPlain(await this.#member.target.handle(exchange));
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'METHOD_NOT_FOUND') return {};
      throw thrown;
    }
  }

  #lastKnown(area: Area, reason: string): Listed {
    const listed = this.#lastGood.get(area) ?? { ...NOTHING, isUnknown: true };
    const entries = listed.entries.map((entry) => ({
      ...entry,
      _meta: { ...(isObject(entry._meta) ? entry._meta : undefined), [UNAVAILABLE]: reason },
    }));
    return { ...listed, ttlMs: 0, entries };
  }

  /** Undefined when it takes longer. */
  async #patiently<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
    let stop = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      stop = this.#options.clock.after(Math.max(0, ms), () => resolve(undefined));
    });
    return Promise.race([promise, late]).finally(() => stop());
  }
}

function tooSlow(area: Area): string {
  return `it did not answer ${LIST_METHODS[area]} in time`;
}

function kindOf(area: Area): Kind {
  return area === 'resourceTemplates' ? 'resources' : area;
}
