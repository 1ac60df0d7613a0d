// The joined lists of all members, and the owners of their entries.
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { canonicalExactly } from '../../kernel/raw/canonical-exactly.ts';
import { copyNumbers } from '../../kernel/raw/exact-numbers.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { readServerUri } from '../../kernel/server-uri.ts';
import type { Origin } from '../../kernel/step.ts';
import type { Change, ClientOpening } from '../../kernel/target.ts';
import type { ListArea } from '../../kernel/methods.ts';
import { isRemembered } from '../../kernel/target.ts';
import { ToolFacts } from '../../kernel/tool-facts.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { dictionary } from '../../kernel/containers/dictionary.ts';
import { GatewayError, toToolError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import { Catalog } from './catalog.ts';
import type { CatalogList } from './list-cache.ts';
import type { Member } from './member.ts';
import { posesAsAnother } from './public-names.ts';
import type { PublicNames, NameOwner } from './public-names.ts';
import { PublicUris, pagesOf } from './public-uris.ts';

/** The public names of tools and prompts. */
export interface AreaNames {
  tools: PublicNames;
  prompts: PublicNames;
}

interface CatalogsOptions {
  names: AreaNames;
  /** All servers of the gateway. */
  servers: readonly string[];
  clock: Clock;
  log: Log;
  /** How long clients may wait for servers that start. */
  startMs?: (() => number | undefined) | undefined;
  /** Whether to show what was listed in a former process. Bare names depend on lists, so there are none without one. */
  remembers: boolean;
}

const START_MS = 10_000;

export class Catalogs {
  readonly members: readonly Member[];
  readonly uris: PublicUris;
  readonly #catalogs = new Map<string, Catalog>();
  readonly #names: AreaNames;
  readonly #servers: readonly string[];
  readonly #tools = new ToolFacts();
  readonly #listeners = new Set<(change: Change) => void>();

  /** Servers that stay keep their catalogs, from `previous`. */
  constructor(members: readonly Member[], options: CatalogsOptions, previous?: Catalogs) {
    this.members = members;
    this.uris = new PublicUris(members.map(({ name }) => name));
    this.#names = options.names;
    this.#servers = options.servers;
    const { clock, log, remembers } = options;
    const startMs = () => options.startMs?.() ?? START_MS;
    for (const member of members) {
      const catalog = (previous && previous.#of(member)) ?? new Catalog(member, { clock, log, startMs, remembers });
      catalog.onLate = (kind) => this.#tellLate({ kind });
      this.#catalogs.set(member.name, catalog);
    }
  }

  member(name: string): Member | undefined {
    return this.members.find((member) => member.name === name);
  }

  /** A server that is not up in time is announced later, by a changed list. */
  async ready(opening?: ClientOpening): Promise<void> {
    await Promise.all([...this.#catalogs.values()].map((catalog) => catalog.ready(opening)));
  }

  /** Whether the member has started in time, or failed. */
  isReady({ name }: Member, opening: ClientOpening): Promise<boolean> {
    return this.#catalogs.get(name)!.ready(opening);
  }

  /** Calls back when a late list arrives. */
  watchLate(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tellLate(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** All entries of an area under their public names, in configuration order. */
  async list(area: ListArea, client: ClientView): Promise<CatalogList> {
    const lists = await Promise.all(this.members.map((member) => this.#catalogs.get(member.name)!.list(area, client)));
    return {
      entries: area === 'tools' || area === 'prompts' ? this.#named(area, lists) : this.#joined(area, lists),
      ttlMs: Math.min(...lists.map(({ ttlMs }) => ttlMs)),
      isPrivate: lists.some(({ isPrivate }) => isPrivate),
      more: joinMembers(lists.map(({ more }) => more)),
    };
  }

  /** Converts the URIs in a member's result to public ones. */
  publishResult({ name }: Member, result: ResultObject, client: ClientView): Promise<ResultObject> {
    return this.uris.publishResult(name, result, () => this.list('resources', client));
  }

  /** The origin of a resource or template. */
  uriOrigin(server: string, uri: string): Origin {
    const others = this.#servers.filter((other) => other !== server);
    const isPosing = posesAsAnother({ server, name: uri }, others) || readServerUri(uri, others) !== undefined;
    return { server, name: uri, isPosing };
  }

  /** Whether the client may read a resource of this member, or complete its template. */
  isAllowed({ resourceGuard }: Exchange, { name }: Member, uri: string): boolean {
    return resourceGuard?.(this.uriOrigin(name, uri)) !== false;
  }

  requireAllowed(exchange: Exchange, member: Member, uri: unknown): void {
    if (typeof uri === 'string' && !this.isAllowed(exchange, member, uri))
      throw new GatewayError('ACCESS_DENIED', { uri });
  }

  /** A member's list, to look up an owner. */
  listOf(member: Member, area: ListArea, client: ClientView): Promise<CatalogList> {
    return this.#catalogs.get(member.name)!.list(area, client, true);
  }

  /** The owner of a public or qualified name. Fetches lists if the name is unknown. */
  async owner(area: 'tools' | 'prompts', name: string, client: ClientView): Promise<NameOwner | undefined> {
    const names = this.#names[area];
    const known = names.owner(name);
    if (known) return known;
    await this.list(area, client);
    return names.owner(name);
  }

  /**
   * The owner of a tool that is named as its server names it, as an app (a page of a tool) does. Undefined if its server has no apps, or if several
   * servers have the name or might have it: a name without its server would lead elsewhere when another server is added.
   */
  async bareOwner(name: string, client: ClientView): Promise<NameOwner | undefined> {
    const lists = await Promise.all(this.members.map((member) => this.listOf(member, 'tools', client)));
    if (lists.some(({ isUnknown }) => isUnknown)) return undefined;
    const owners = this.members.filter((_, index) => lists[index]!.entries.some((entry) => entry.name === name));
    const [owner, ...others] = owners;
    if (!owner || others.length > 0) return undefined;
    const hasApps = pagesOf(lists[this.members.indexOf(owner)]!.entries).some((page) => page !== undefined);
    return hasApps ? { server: owner.name, name } : undefined;
  }

  /** Why a server is not available, if it has never listed this area. */
  away(area: ListArea, server: string): Error | undefined {
    return this.#catalogs.get(server)?.away(area);
  }

  /** Resolves when a server has started that has never listed this area. */
  starting(area: ListArea, server: string, client: ClientView): Promise<void> | undefined {
    return this.#catalogs.get(server)?.starting(area, client);
  }

  /** The server that has this name and holds it back. */
  heldOwner(area: 'tools' | 'prompts', name: string): NameOwner | undefined {
    const member = this.members.find(({ target }) => target.heldBack?.(area)?.has(name));
    return member && { server: member.name, name };
  }

  /** Why this cannot be used, though the server has it or may have it. */
  missing(area: 'tools' | 'prompts', { server, name }: NameOwner): Error | undefined {
    const away = this.away(area, server);
    if (away) return area === 'tools' ? toToolError(away, server) : away;
    return this.member(server)?.target.heldBack?.(area)?.get(name);
  }

  /** The error for an unknown name. If names do not tell their server, it may belong to a server that is not available. */
  unknown(area: 'tools' | 'prompts', name: string): Error {
    const owner = this.heldOwner(area, name);
    const held = owner && this.missing(area, owner);
    if (held) return held;
    const away = this.#names[area].isIncomplete ? this.members.flatMap((one) => this.away(area, one.name) ?? []) : [];
    if (away.length === 0) return new GatewayError(area === 'tools' ? 'TOOL_NOT_FOUND' : 'PROMPT_NOT_FOUND', { name });
    const reasons = away.map(({ message }) => message).join('; ');
    return new GatewayError('OWNER_AWAY', { kind: area === 'tools' ? 'tool' : 'prompt', name, reasons });
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    const owner = this.#names.tools.owner(tool);
    const { target } = (owner ? this.member(owner.server) : this.members[0]) ?? {};
    return target?.inputSchema?.(owner?.name ?? tool, client) ?? this.#tools.get(tool)?.inputSchema;
  }

  /** Converts a change to public names and URIs. */
  onChange(member: Member, change: Change): Change | undefined {
    if (change.kind === 'tools' || change.kind === 'prompts' || change.kind === 'resources') {
      this.#catalogs.get(member.name)?.forget(change.kind);
    }
    if (change.kind === 'resource') {
      const origin = this.uriOrigin(member.name, change.uri);
      return { ...change, uri: this.uris.publish(member.name, change.uri), origin };
    }
    if (change.kind !== 'tools') return change;
    const rename = (name: string): string => this.#names.tools.publish({ server: member.name, name });
    return {
      ...change,
      ...(change.added && { added: change.added.map((tool) => ({ ...tool, name: rename(tool.name) })) }),
      ...(change.removed && { removed: change.removed.map(rename) }),
    };
  }

  /** The catalog of the same server, unless it was reconfigured. */
  #of({ name, opening }: Member): Catalog | undefined {
    const isSame = opening !== undefined && this.member(name)?.opening === opening;
    return isSame ? this.#catalogs.get(name) : undefined;
  }

  /** Names may depend on the lists of earlier servers, so all lists are learned first. */
  #named(area: 'tools' | 'prompts', lists: CatalogList[]): JsonObject[] {
    for (const [index, { entries, isUnknown }] of lists.entries()) {
      const names = entries.map(({ name }) => String(name));
      if (!isUnknown) this.#names[area].learn(this.members[index]!.name, names);
    }
    if (area === 'tools') this.uris.learn(lists.map(({ entries }) => pagesOf(entries)));
    return this.members.flatMap((member, index) =>
      lists[index]!.entries.map((entry) => this.#publish(area, member, entry)),
    );
  }

  #publish(area: 'tools' | 'prompts', member: Member, entry: JsonObject): JsonObject {
    const name = String(entry.name);
    const publicName = this.#names[area].publish({ server: member.name, name });
    if (area === 'tools' && !isRemembered(entry)) this.#tools.note(publicName, entry);
    const shown = publicName === name ? entry : { ...entry, name: publicName };
    return area === 'tools' ? this.uris.publishTool(member.name, shown) : shown;
  }

  /** If several servers have the same template, the first one shows its own. */
  #joined(area: 'resources' | 'resourceTemplates', lists: CatalogList[]): JsonObject[] {
    const key = area === 'resources' ? 'uri' : 'uriTemplate';
    const own = lists.map(({ entries }) => entries.map((entry) => entry[key]));
    if (area === 'resources') {
      this.uris.learn(own);
      this.uris.isComplete = !lists.some(({ isUnknown }) => isUnknown);
    } else this.uris.learnTemplates(own);
    const entries = lists.flatMap(({ entries }, index) =>
      entries.map((entry) => this.#publishUri(key, this.members[index]!, entry)),
    );
    const seen = new Set<unknown>();
    return entries.filter((entry) => !seen.has(entry[key]) && seen.add(entry[key]));
  }

  #publishUri(key: 'uri' | 'uriTemplate', { name }: Member, entry: JsonObject): JsonObject {
    const own = entry[key];
    const shown = typeof own === 'string' ? this.uris.publish(name, own) : own;
    return shown === own ? entry : { ...entry, [key]: shown };
  }
}

/** The further members of lists that all servers with such a list agree on: anything else would be one server's word for the others'. */
export function joinMembers(lists: readonly (JsonObject | undefined)[]): JsonObject {
  const given = lists.filter((more) => more !== undefined);
  if (given.length === 1) return given[0]!;
  const { _meta: _own, ...agreed } = agreedFields(given);
  const meta = agreedFields(given.map(({ _meta: own }) => (isObject(own) ? own : {})));
  return Object.keys(meta).length > 0 ? { ...agreed, _meta: meta } : agreed;
}

function agreedFields([first = {}, ...others]: readonly JsonObject[]): JsonObject {
  const textOf = (more: JsonObject, key: string): string => canonicalExactly(copyNumbers(more, { [key]: more[key] }));
  const isAgreed = (key: string): boolean =>
    others.every((other) => Object.hasOwn(other, key) && textOf(other, key) === textOf(first, key));
  const agreed = Object.entries(first).filter(([key]) => isAgreed(key));
  return copyNumbers(first, dictionary(Object.fromEntries(agreed)));
}
