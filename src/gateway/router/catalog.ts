// The lists of one member (a server behind the router), as each client sees them.
// 1. A list is fetched when a client requests it. It is kept while the member would announce a change to that client, and for its
//    TTL; to find the owner of a name, a slightly older list will do.
// 2. Clients wait once for each list of a member that is away or slow. After that they get the last list at once while a newer
//    one is fetched; `onLate` reports a difference. Retries become rarer while the member keeps failing. Entries of a member that
//    is away or does not answer are marked. A member that was never reached offers nothing.
// 3. Lists may differ between clients, so they are kept per client; for stateless clients, which have no session, per
//    declaration.
import type { ClientView } from '../../kernel/exchange.ts';
import { isObject, roughBytes } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import { UNAVAILABLE_KEY } from '../../kernel/target.ts';
import type { ClientOpening } from '../../kernel/target.ts';
import { LIST_METHOD_BY_AREA } from '../../kernel/methods.ts';
import type { ListArea } from '../../kernel/methods.ts';
import { pages } from '../../kernel/pages.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { isLoop, arrivedVia } from '../../kernel/base/via.ts';
import type { Log } from '../../kernel/base/log.ts';
import { unlessLate } from '../../kernel/base/timing.ts';
import { toShortKey } from '../../kernel/base/short-name.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { isStarting } from './member.ts';
import type { Member } from './member.ts';

type CatalogKind = Exclude<ListArea, 'resourceTemplates'>;

export interface CatalogList {
  entries: JsonObject[];
  ttlMs: number;
  isPrivate: boolean;
  /** Further members of the list, such as `_meta`. */
  more?: JsonObject | undefined;
  /** The member has never listed anything. */
  isUnknown?: boolean | undefined;
}

interface CatalogOptions {
  clock: Clock;
  log: Log;
  /** How long clients may wait for a member that starts or is slow to list. */
  startMs(): number;
}

/** A list that clients no longer wait for. */
interface SlowList {
  /** Why it is missing; undefined if it came late. */
  reason: string | undefined;
  failures: number;
  /** The time of the next attempt. */
  retryAt: number;
}

const NOTHING: CatalogList = { entries: [], ttlMs: 0, isPrivate: false };
/** A list that takes longer than this fraction of `startMs` is slow. */
const SLOW = 1 / 4;
/** The pause between attempts to fetch a slow list that has failed; it doubles. */
const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 60_000;

export class Catalog {
  /** Called when a late list differs from what clients were shown. */
  onLate: (kind: CatalogKind) => void = () => {};
  readonly #member: Member;
  readonly #options: CatalogOptions;
  readonly #lists: ListCache;
  readonly #last: LastKnownLists;
  readonly #slow = new Map<ListArea, SlowList>();
  /** When clients stop waiting for the member to start. */
  #waitUntil: number | undefined;

  constructor(member: Member, options: CatalogOptions) {
    this.#member = member;
    this.#options = options;
    this.#lists = new ListCache(options.clock);
    this.#last = new LastKnownLists(member.target.isPerUser === true);
  }

  /** Resolves with false if the member is still starting when the time is up. */
  async ready(opening?: ClientOpening): Promise<boolean> {
    const { clock } = this.#options;
    this.#waitUntil ??= ticksOf(clock) + this.#options.startMs();
    const isKnown = Promise.resolve(this.#member.target.ready?.(opening)).then(() => true);
    const isInTime = (await unlessLate(isKnown, clock, Math.max(0, this.#waitUntil - ticksOf(clock)))) ?? false;
    if (isInTime) this.#waitUntil = undefined;
    return isInTime;
  }

  /** `isLookup`: to find an owner, not to be shown. */
  async list(area: ListArea, client: ClientView, isLookup = false): Promise<CatalogList> {
    if (!(await this.ready(client))) return this.#lastKnown(area, client, 'it is still starting');
    const capability = this.#member.target.capabilities(client)[kindOf(area)];
    if (!capability) return this.#last.get(area, client) ?? NOTHING;
    const lists = this.#lists.of(client);
    const isAway = this.#member.target.status?.state === 'failing';
    const kept = isAway ? undefined : lists.get(area, isLookup);
    const slow = this.#slow.get(area);
    if (slow && !(kept && lists.has(area))) return this.#showLast(area, client, slow, kept !== undefined);
    const listed = kept ?? this.#start(area, client, lists);
    return this.#inTime(area, client, listed);
  }

  /** Why the member is not available, if it has never listed this area. */
  away(area: ListArea): Error | undefined {
    if (this.#last.has(area)) return undefined;
    const { name: server, target } = this.#member;
    const reason = this.#slow.get(area)?.reason;
    return (
      target.status?.problem ??
      (reason === undefined ? undefined : new GatewayError('UPSTREAM_UNREACHABLE', { server, reason }))
    );
  }

  /** Resolves when the member has started and listed this area, or could not; undefined if there is nothing to wait for. */
  starting(area: ListArea, client: ClientView): Promise<void> | undefined {
    return this.#last.has(area) || !isStarting(this.#member) ? undefined : this.#listFirst(area, client);
  }

  /** However long it takes: a call waits for its server as it would if nobody had to know the list. */
  async #listFirst(area: ListArea, client: ClientView): Promise<void> {
    const { target } = this.#member;
    await target.ready?.(client);
    if (!target.capabilities(client)[kindOf(area)]) return;
    const lists = this.#lists.of(client);
    await (lists.get(area, true) ?? this.#start(area, client, lists)).catch(() => {}); // it is logged
  }

  /** Called when lists of this kind have changed. */
  forget(kind: CatalogKind): void {
    this.#lists.outdate(kind);
  }

  /** Fetches a list, and records whether it is slow or fails. */
  #start(area: ListArea, client: ClientView, lists: ClientLists): Promise<CatalogList> {
    const { clock } = this.#options;
    const slowMs = this.#options.startMs() * SLOW;
    const capability = this.#member.target.capabilities(client)[kindOf(area)];
    const started = ticksOf(clock);
    const isSlow = (): boolean => ticksOf(clock) - started >= slowMs;
    const listed = this.#fetch(area, client);
    lists.keep(area, listed, capability?.listChanged === true && client.era.hasSession);
    listed.then(
      (value) => {
        if (isSlow()) this.#slow.set(area, { reason: undefined, failures: 0, retryAt: 0 });
        else this.#slow.delete(area);
        const shown = lists.shown.get(area);
        lists.shown.delete(area);
        if (shown && JSON.stringify(shown.entries) !== JSON.stringify(value.entries)) this.onLate(kindOf(area));
      },
      (error: unknown) => {
        this.#options.log.warn({ server: this.#member.name, area, error }, 'list.failed');
        if (!isLoop(error) && (isSlow() || this.#slow.has(area))) this.#miss(area, wordsOf(error));
      },
    );
    return listed;
  }

  /** Records a failure and delays the next attempt. */
  #miss(area: ListArea, reason: string): void {
    const { failures = 0 } = this.#slow.get(area) ?? {};
    const pauseMs = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
    this.#slow.set(area, { reason, failures: failures + 1, retryAt: ticksOf(this.#options.clock) + pauseMs });
  }

  #showLast(area: ListArea, client: ClientView, { reason, retryAt }: SlowList, isOnItsWay: boolean): CatalogList {
    const lists = this.#lists.of(client);
    const shown = reason === undefined ? this.#last.get(area, client) : undefined;
    const listed = shown ?? this.#lastKnown(area, client, reason ?? tooSlow(area));
    lists.shown.set(area, listed);
    if (!isOnItsWay && ticksOf(this.#options.clock) >= retryAt) void this.#start(area, client, lists).catch(() => {}); // it is logged
    return listed;
  }

  async #inTime(area: ListArea, client: ClientView, fetching: Promise<CatalogList>): Promise<CatalogList> {
    let reason = tooSlow(area);
    const listed = await unlessLate(fetching, this.#options.clock, this.#options.startMs()).catch((error: unknown) => {
      reason = wordsOf(error);
      return undefined;
    });
    if (listed) return listed;
    const known = this.#lastKnown(area, client, reason);
    if (reason !== tooSlow(area)) return known;
    this.#slow.set(area, { reason, failures: 0, retryAt: 0 });
    this.#lists.of(client).shown.set(area, known);
    return known;
  }

  async #fetch(area: ListArea, client: ClientView): Promise<CatalogList> {
    const entries: JsonObject[] = [];
    let last: JsonObject = {};
    const fetch = (params: JsonObject) => this.#page(new InternalExchange(LIST_METHOD_BY_AREA[area], params, client));
    for await (const page of pages({ key: area, fetch })) {
      if (Array.isArray(page[area])) entries.push(...(page[area] as unknown[]).filter(isObject));
      last = page;
    }
    const { [area]: _entries, ttlMs = 0, cacheScope, nextCursor: _cursor, ...more } = last;
    const listed = { entries, ttlMs: Number(ttlMs), isPrivate: cacheScope !== 'public', more };
    this.#last.set(area, client, listed);
    return listed;
  }

  /** Many servers with resources have no list of templates. */
  async #page(exchange: InternalExchange): Promise<JsonObject> {
    try {
      return toPlainObject(await this.#member.target.handle(exchange));
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'METHOD_NOT_FOUND') return {};
      throw thrown;
    }
  }

  #lastKnown(area: ListArea, client: ClientView, reason: string): CatalogList {
    const listed = this.#last.get(area, client) ?? { ...NOTHING, isUnknown: true };
    const entries = listed.entries.map((entry) => ({
      ...entry,
      _meta: { ...(isObject(entry._meta) ? entry._meta : undefined), [UNAVAILABLE_KEY]: reason },
    }));
    return { ...listed, ttlMs: 0, entries };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tooSlow(area: ListArea): string {
  return `it did not answer ${LIST_METHOD_BY_AREA[area]} in time`;
}

function kindOf(area: ListArea): CatalogKind {
  return area === 'resourceTemplates' ? 'resources' : area;
}

/** Limits stateless clients, which never say goodbye, and kinds of clients. */
const MAX_CLIENTS = 100;

/** The lists fetched for each client. They are dropped with the client. */
class ListCache {
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

class ClientLists {
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

/**
 * The last lists that arrived. Clients with other capabilities may be offered other entries, but some list is better than none.
 * Another gateway gets only lists fetched for it: a list may hold that gateway's own tools, which would return to it under ever
 * longer names.
 */
class LastKnownLists {
  readonly #ownerOf: (client: ClientView) => string;
  readonly #byKind = new BoundedMap<string, CatalogList>(MAX_CLIENTS);
  readonly #known = new Set<ListArea>();

  /** `isPerUser`: what one user was shown is not for others. */
  constructor(isPerUser: boolean) {
    this.#ownerOf = ({ principal }) => (isPerUser ? principal : '');
  }

  set(area: ListArea, client: ClientView, listed: CatalogList): void {
    this.#known.add(area);
    for (const key of this.#keysOf(area, client)) this.#byKind.set(key, listed);
  }

  /** Whether a list has ever arrived, for any client. */
  has(area: ListArea): boolean {
    return this.#known.has(area);
  }

  get(area: ListArea, client: ClientView): CatalogList | undefined {
    const [kind, any] = this.#keysOf(area, client);
    return this.#byKind.get(kind) ?? this.#byKind.get(any);
  }

  /** For clients of this kind, and for any. */
  #keysOf(area: ListArea, client: ClientView): [string, string] {
    const { dialect, capabilities } = client;
    const shared = [this.#ownerOf(client), area, arrivedVia()];
    return [toShortKey(JSON.stringify([...shared, dialect, capabilities])), JSON.stringify(shared)];
  }
}
