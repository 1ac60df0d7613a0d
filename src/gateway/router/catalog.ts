// What one member offers, fetched when it is asked for and kept until it changes. A member that is away keeps the lists it was
// last known by, each entry marked; one that was never there offers nothing.
import type { ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { QuietExchange } from '../../protocol/quiet-exchange.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { Member } from './member.ts';

export type Area = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export interface Listed {
  entries: JsonObject[];
  ttlMs: number;
  isPrivate: boolean;
}

interface Kept {
  listed: Promise<Listed>;
  until: number;
}

export const LIST_METHODS: Record<Area, string> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
};

const NOTHING: Listed = { entries: [], ttlMs: 0, isPrivate: false };
const MAX_PAGES = 1000;
/** For members that do not tell when their lists change. */
const UNTOLD_MS = 10_000;
/** Set on the entries of a member that is away. */
export const UNAVAILABLE = 'mcp-parley/unavailable';

export class Catalog {
  readonly #member: Member;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kept = new Map<string, Kept>();
  readonly #lastGood = new Map<string, Listed>();

  constructor(member: Member, clock: Clock, log: Log) {
    this.#member = member;
    this.#clock = clock;
    this.#log = log;
  }

  async list(area: Area, client: ClientView): Promise<Listed> {
    await this.#member.target.ready?.(); // one that was added later has not been asked yet what it offers
    const key = keyOf(area, client);
    if (!this.#offers(area, client)) return this.#lastGood.get(key) ?? NOTHING;
    const kept = this.#kept.get(key);
    if (kept && this.#clock.now() < kept.until) return kept.listed;
    const listed = this.#fetch(area, client, key);
    this.#kept.set(key, { listed, until: this.#clock.now() + this.#keepMs(area, client) });
    return listed;
  }

  /** Something of this kind has changed. */
  forget(kind: 'tools' | 'prompts' | 'resources'): void {
    for (const key of this.#kept.keys())
      if (areasOf(kind).some((area) => key.startsWith(`${area} `))) this.#kept.delete(key);
  }

  async #fetch(area: Area, client: ClientView, key: string): Promise<Listed> {
    try {
      const listed = await this.#fetchPages(area, client);
      this.#lastGood.set(key, listed);
      return listed;
    } catch (error) {
      this.#kept.delete(key);
      this.#log.warn({ server: this.#member.name, area, error }, 'list.failed');
      return marked(this.#lastGood.get(key) ?? NOTHING, error);
    }
  }

  async #fetchPages(area: Area, client: ClientView): Promise<Listed> {
    const entries: JsonObject[] = [];
    const seen = new Set<unknown>();
    let cursor: unknown;
    let page: JsonObject;
    do {
      seen.add(cursor);
      const params = cursor === undefined ? {} : { cursor };
      page = await this.#member.target.handle(new QuietExchange(LIST_METHODS[area], params, client));
      if (Array.isArray(page[area])) entries.push(...(page[area] as unknown[]).filter(isObject));
      cursor = page.nextCursor;
    } while (cursor !== undefined && !seen.has(cursor) && seen.size < MAX_PAGES);
    return { entries, ttlMs: Number(page.ttlMs ?? 0), isPrivate: page.cacheScope !== 'public' };
  }

  #offers(area: Area, client: ClientView): boolean {
    const capabilities = this.#member.target.capabilities(client);
    return capabilities[area === 'resourceTemplates' ? 'resources' : area] !== undefined;
  }

  #keepMs(area: Area, client: ClientView): number {
    const capability = this.#member.target.capabilities(client)[area === 'resourceTemplates' ? 'resources' : area];
    return capability?.listChanged ? Infinity : UNTOLD_MS;
  }
}

/** In-process members may offer different things to different dialects and revisions. */
function keyOf(area: Area, { dialect, revision }: ClientView): string {
  return `${area} ${dialect} ${revision}`;
}

function areasOf(kind: 'tools' | 'prompts' | 'resources'): Area[] {
  return kind === 'resources' ? ['resources', 'resourceTemplates'] : [kind];
}

function marked(listed: Listed, error: unknown): Listed {
  const reason = error instanceof Error ? error.message : String(error);
  const entries = listed.entries.map((entry) => ({
    ...entry,
    _meta: { ...(isObject(entry._meta) ? entry._meta : undefined), [UNAVAILABLE]: reason },
  }));
  return { ...listed, entries };
}
