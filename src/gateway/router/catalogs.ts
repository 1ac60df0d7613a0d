// The joined lists of all members, and who owns what stands in them.
import type { ClientView } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { Change, Opening } from '../../protocol/target.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { Catalog } from './catalog.ts';
import type { Area, Kind, Listed } from './catalog.ts';
import type { Member } from './member.ts';
import { Names } from './names.ts';
import type { Naming, Owner } from './names.ts';

/** Public names, kept while servers come and go. */
export interface NameBook {
  readonly tools: Names;
  readonly prompts: Names;
}

export function createNameBook(naming?: Naming): NameBook {
  return { tools: new Names(naming), prompts: new Names(naming) };
}

export interface CatalogsOptions {
  names: NameBook;
  clock: Clock;
  log: Log;
  /** How long clients may be kept waiting for servers that start. */
  startMs?: number | undefined;
}

const START_MS = 10_000;

export class Catalogs {
  readonly members: readonly Member[];
  readonly #catalogs = new Map<string, Catalog>();
  readonly #tools: Names;
  readonly #prompts: Names;
  readonly #schemas = new Map<string, JsonObject>();
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(members: readonly Member[], options: CatalogsOptions) {
    this.members = members;
    this.#tools = options.names.tools;
    this.#prompts = options.names.prompts;
    const { clock, log, startMs = START_MS } = options;
    const onLate = (kind: Kind): void => this.#listeners.forEach((listener) => listener({ kind }));
    for (const member of members) {
      this.#catalogs.set(member.name, new Catalog(member, { clock, log, startMs, onLate }));
    }
  }

  member(name: string): Member | undefined {
    return this.members.find((member) => member.name === name);
  }

  /** One that does not come up in time is told of later, by a changed list. */
  async ready(opening?: Opening): Promise<void> {
    await Promise.all([...this.#catalogs.values()].map((catalog) => catalog.ready(opening)));
  }

  /** Calls back when a list has come that clients were not kept waiting for. */
  watchLate(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** All entries of an area under their public names, in the order of the configuration. */
  async list(area: Area, client: ClientView): Promise<Listed> {
    const lists = await Promise.all(
      this.members.map(async (member) => ({
        member,
        listed: await this.#catalogs.get(member.name)!.list(area, client),
      })),
    );
    const named = area === 'tools' || area === 'prompts';
    const entries = lists.flatMap(({ member, listed }) =>
      named ? listed.entries.map((entry) => this.#publish(area, member, entry)) : listed.entries,
    );
    return {
      entries: named ? entries : firstOfEach(entries, area === 'resources' ? 'uri' : 'uriTemplate'),
      ttlMs: Math.min(...lists.map(({ listed }) => listed.ttlMs)),
      isPrivate: lists.some(({ listed }) => listed.isPrivate),
    };
  }

  /** What a member has, to see whether it owns something. */
  listOf(member: Member, area: Area, client: ClientView): Promise<Listed> {
    return this.#catalogs.get(member.name)!.list(area, client, true);
  }

  /** Who is called by this public name, or by its own name where only one has it. Lists are fetched when it is unknown. */
  async owner(area: 'tools' | 'prompts', name: string, client: ClientView): Promise<Owner | undefined> {
    const names = area === 'tools' ? this.#tools : this.#prompts;
    const known = names.owner(name);
    if (known) return known;
    await this.list(area, client);
    return names.owner(name) ?? names.uniquely(name);
  }

  /** The same as far as it is known already. */
  knownOwner(area: 'tools' | 'prompts', name: string): string | undefined {
    const names = area === 'tools' ? this.#tools : this.#prompts;
    const { server } = names.owner(name) ?? names.uniquely(name) ?? {};
    return server !== undefined && this.member(server) ? server : undefined;
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    const owner = this.#tools.owner(tool);
    const { target } = (owner ? this.member(owner.server) : this.members[0]) ?? {};
    return target?.inputSchema?.(owner?.name ?? tool, client) ?? this.#schemas.get(tool);
  }

  /** The change as the clients should hear of it. */
  onChange(member: Member, change: Change): Change | undefined {
    if (change.kind === 'tools' || change.kind === 'prompts' || change.kind === 'resources') {
      this.#catalogs.get(member.name)?.forget(change.kind);
    }
    if (change.kind !== 'tools') return change;
    const rename = (name: string): string => this.#tools.known({ server: member.name, name }) ?? name;
    return {
      ...change,
      ...(change.added && { added: change.added.map((tool) => ({ ...tool, name: rename(tool.name) })) }),
      ...(change.removed && { removed: change.removed.map(rename) }),
    };
  }

  #publish(area: 'tools' | 'prompts', member: Member, entry: JsonObject): JsonObject {
    const name = String(entry.name);
    const publicName = (area === 'tools' ? this.#tools : this.#prompts).publish({ server: member.name, name });
    if (area === 'tools' && isObject(entry.inputSchema)) this.#schemas.set(publicName, entry.inputSchema);
    return publicName === name ? entry : { ...entry, name: publicName };
  }
}

/** URIs are not renamed: the first server in order owns one that several have. */
function firstOfEach(entries: JsonObject[], key: string): JsonObject[] {
  const seen = new Set<unknown>();
  return entries.filter((entry) => !seen.has(entry[key]) && seen.add(entry[key]));
}
