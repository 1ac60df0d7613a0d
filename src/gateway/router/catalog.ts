// The lists of one member (a server behind the router), as each client sees them.
// 1. A list is fetched when a client requests it. It is kept while the member would announce a change to that client, and for its
//    TTL; to find the owner of a name, a slightly older list will do.
// 2. Clients wait once for each list of a member that is away or slow. After that they get the last list at once while a newer
//    one is fetched; `onLate` reports a difference. Retries become rarer while the member keeps failing. Entries of a member that
//    is away or does not answer are marked. A member that was never reached offers nothing.
// 3. While a member starts that has listed tools or prompts in a former process, that list is shown, marked, after a shorter time.
// 4. Lists may differ between clients, so they are kept per client; for stateless clients, which have no session, per
//    declaration.
import type { ClientView } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import { UNAVAILABLE_KEY, toRemembered } from '../../kernel/target.ts';
import type { ClientOpening } from '../../kernel/target.ts';
import { LIST_METHOD_BY_AREA } from '../../kernel/methods.ts';
import type { ListArea } from '../../kernel/methods.ts';
import { pages } from '../../kernel/pages.ts';
import { ticksOf } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError, messageOf } from '../../kernel/base/errors.ts';
import { isLoop, arrivedVia } from '../../kernel/base/via.ts';
import type { Log } from '../../kernel/base/log.ts';
import { unlessLate } from '../../kernel/base/timing.ts';
import { toShortKey } from '../../kernel/base/short-name.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import type { KnownList, ListReader } from './last-lists.ts';
import { ListCache, MAX_CLIENTS, kindOf } from './list-cache.ts';
import type { CatalogKind, CatalogList, ClientLists } from './list-cache.ts';
import { isStarting } from './member.ts';
import type { Member } from './member.ts';

interface CatalogOptions {
  clock: Clock;
  log: Log;
  /** How long clients may wait for a member that starts or is slow to list. */
  startMs(): number;
  /** Whether to show what the member listed in a former process. */
  remembers?: boolean | undefined;
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
/** How long clients wait for the list of a member if there is one of a former process. */
const REMEMBERED_MS = 1000;
const STARTING = 'it is still starting';

export class Catalog {
  /** Called when a late list differs from what clients were shown. */
  onLate: (kind: CatalogKind) => void = () => {};
  readonly #member: Member;
  readonly #options: CatalogOptions;
  readonly #lists: ListCache;
  readonly #last: LastKnownLists;
  readonly #slow = new Map<ListArea, SlowList>();
  /** Since when clients wait for the member to start. */
  #waitingSince: number | undefined;

  constructor(member: Member, options: CatalogOptions) {
    this.#member = member;
    this.#options = options;
    this.#lists = new ListCache(options.clock);
    this.#last = new LastKnownLists(member.target.isPerUser === true);
  }

  /** Resolves with false if the member is still starting when the time is up. `area`: what the client wants to see; default: which tools there are. */
  async ready(opening?: ClientOpening, area: ListArea = 'tools'): Promise<boolean> {
    const { clock } = this.#options;
    const isKnown = Promise.resolve(this.#member.target.ready?.(opening)).then(() => true);
    const since = (this.#waitingSince ??= ticksOf(clock));
    const waitMs = await this.#waitMs(area, opening);
    const isInTime = (await unlessLate(isKnown, clock, Math.max(0, since + waitMs - ticksOf(clock)))) ?? false;
    if (isInTime) this.#waitingSince = undefined;
    return isInTime;
  }

  async #waitMs(area: ListArea, client: ListReader | undefined): Promise<number> {
    const startMs = this.#options.startMs();
    return client && (await this.#formerList(area, client)) ? Math.min(startMs, REMEMBERED_MS) : startMs;
  }

  /** Of a former process; undefined once the member has listed this area. */
  async #formerList(area: ListArea, client: ListReader): Promise<KnownList | undefined> {
    if (!this.#options.remembers || this.#last.has(area)) return undefined;
    return this.#member.lastLists?.read(area, client);
  }

  /** `isLookup`: to find an owner, not to be shown. */
  async list(area: ListArea, client: ClientView, isLookup = false): Promise<CatalogList> {
    if (!(await this.ready(client, area))) return this.#lastKnown(area, client, STARTING);
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
        if (!isLoop(error) && (isSlow() || this.#slow.has(area))) this.#miss(area, messageOf(error));
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

  async #showLast(
    area: ListArea,
    client: ClientView,
    { reason, retryAt }: SlowList,
    isOnItsWay: boolean,
  ): Promise<CatalogList> {
    const lists = this.#lists.of(client);
    const shown = reason === undefined ? this.#last.get(area, client) : undefined;
    const listed = shown ?? (await this.#lastKnown(area, client, reason ?? tooSlow(area)));
    lists.shown.set(area, listed);
    if (!isOnItsWay && ticksOf(this.#options.clock) >= retryAt) void this.#start(area, client, lists).catch(() => {}); // it is logged
    return listed;
  }

  async #inTime(area: ListArea, client: ClientView, fetching: Promise<CatalogList>): Promise<CatalogList> {
    let reason = tooSlow(area);
    const listed = await unlessLate(fetching, this.#options.clock, await this.#waitMs(area, client)).catch(
      (error: unknown) => {
        reason = messageOf(error);
        return undefined;
      },
    );
    if (listed) return listed;
    const known = await this.#lastKnown(area, client, reason);
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
    if (arrivedVia().length === 0) this.#member.lastLists?.note(area, client, listed);
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

  async #lastKnown(area: ListArea, client: ClientView, reason: string): Promise<CatalogList> {
    const last = this.#last.get(area, client);
    if (last) return { ...last, ttlMs: 0, entries: last.entries.map((entry) => toUnavailable(entry, reason)) };
    const { entries = [], ...former } = (await this.#formerList(area, client)) ?? { isPrivate: false };
    return { ...former, ttlMs: 0, isUnknown: true, entries: entries.map((entry) => toRemembered(entry, reason)) };
  }
}

function toUnavailable(entry: JsonObject, reason: string): JsonObject {
  return { ...entry, _meta: { ...(isObject(entry._meta) ? entry._meta : undefined), [UNAVAILABLE_KEY]: reason } };
}

function tooSlow(area: ListArea): string {
  return `it did not answer ${LIST_METHOD_BY_AREA[area]} in time`;
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
