// The public names of the tools or prompts of a set of servers. They depend only on the configuration and never on the order in
// which servers start, so that a name cannot lead to another server after a restart.
// 1. `always`: every name is `server__name`. `on-collision`: a name is bare unless a server configured earlier has it. An earlier
//    server that has not listed its names may have any of them, so the name is qualified.
// 2. The qualified form `server__name` always works. No bare name may look like a qualified name of another server.
// 3. Server names may contain `__`: the longest matching server name owns `a__b__c`. A tool of another server with the same
//    qualified name gets a hash as prefix.
// 4. Names have at most 64 characters, because clients refuse longer ones. A longer name is cut and gets a hash of the whole.
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { MAX_NAME_LENGTH, toShortName } from '../../kernel/base/short-name.ts';

export interface NameOwner {
  server: string;
  /** The server's own name for it. */
  name: string;
}

export type NamingMode = 'on-collision' | 'always';

/** The naming mode, and all servers in configuration order. */
export interface NamingRules {
  naming: NamingMode;
  servers: readonly string[];
}

export const QUALIFIER = '__';
/** The limit per server; beyond it the server's names count as unknown. */
const MAX_NAMES = 10_000;
/** Limits the names that were cut or have a hash. */
const MAX_SPECIAL = 10_000;
const HASH_LENGTH = 8;

export class PublicNames {
  readonly #servers: readonly string[];
  /** Longest first. */
  readonly #prefixes: readonly { server: string; prefix: string }[];
  readonly #naming: NamingMode;
  /** All names that each server has ever listed; absent until the first list. */
  readonly #listed = new Map<string, Set<string>>();
  /** Owners of names that were cut or have a hash as prefix. */
  readonly #special = new BoundedMap<string, NameOwner>(MAX_SPECIAL);
  /** Full names of bare names that were cut. */
  readonly #cut = new BoundedMap<string, string>(MAX_SPECIAL);

  /** `servers`: in configuration order. */
  constructor(servers: readonly string[], naming: NamingMode = 'always') {
    this.#servers = servers;
    this.#naming = naming;
    this.#prefixes = toPrefixes(servers);
  }

  /** Copies the names of servers that stay. */
  inherit(previous: PublicNames, servers: readonly string[]): void {
    for (const server of servers) {
      const listed = previous.#listed.get(server);
      if (listed) this.#listed.set(server, listed);
    }
  }

  /** Learns a list. A listed name stays reserved for its server. */
  learn(server: string, names: readonly string[]): void {
    if (this.#naming === 'always') return;
    const listed = this.#listed.get(server) ?? new Set();
    this.#listed.set(server, listed);
    for (const name of names) if (listed.size <= MAX_NAMES) listed.add(name);
  }

  /** Whether names depend on lists that have not arrived yet. */
  get isIncomplete(): boolean {
    return this.#naming === 'on-collision' && !this.#servers.every((server) => this.#isKnown(server));
  }

  publish(owner: NameOwner): string {
    if (this.#naming === 'always' || !this.#mayBeBare(owner)) return this.#qualified(owner);
    const short = toShortName(owner.name);
    if (short !== owner.name) this.#cut.set(short, owner.name);
    return short;
  }

  /** The owner of a public or qualified name, as far as it is known. */
  owner(spelling: string): NameOwner | undefined {
    const special = this.#special.get(spelling);
    if (special) return special;
    const server = serverIn(spelling, this.#prefixes);
    if (server !== undefined) return { server, name: spelling.slice(server.length + QUALIFIER.length) };
    return this.#naming === 'always' ? undefined : this.#bareOwner(this.#cut.get(spelling) ?? spelling);
  }

  /** The first server in order that has the name, unless an earlier one may have it too. */
  #bareOwner(name: string): NameOwner | undefined {
    for (const server of this.#servers) {
      if (!this.#isKnown(server)) return undefined;
      if (this.#listed.get(server)!.has(name)) return { server, name };
    }
    return undefined;
  }

  #mayBeBare({ server, name }: NameOwner): boolean {
    if (serverIn(name, this.#prefixes) !== undefined) return false;
    const earlier = this.#servers.slice(0, this.#servers.indexOf(server));
    return earlier.every((other) => this.#isKnown(other) && !this.#listed.get(other)!.has(name));
  }

  #isKnown(server: string): boolean {
    const listed = this.#listed.get(server);
    return listed !== undefined && listed.size <= MAX_NAMES;
  }

  #qualified(owner: NameOwner): string {
    const plain = toQualified(owner);
    const isOwn = serverIn(plain, this.#prefixes) === owner.server;
    const name = isOwn ? toShortName(plain) : `${hashOf(owner)}_${plain}`.slice(0, MAX_NAME_LENGTH);
    if (name !== plain) this.#special.set(name, { ...owner });
    return name;
  }
}

export function toQualified({ server, name }: NameOwner): string {
  return `${server}${QUALIFIER}${name}`;
}

/** Whether a server gives one of its own things the qualified name of another server's. */
export function posesAsAnother({ server, name }: NameOwner, servers: readonly string[]): boolean {
  if (!name.includes(QUALIFIER)) return false; // nearly always
  return servers.some((other) => other !== server && name.startsWith(other + QUALIFIER));
}

function toPrefixes(servers: readonly string[]): { server: string; prefix: string }[] {
  const prefixes = servers.map((server) => ({ server, prefix: server + QUALIFIER }));
  return prefixes.toSorted((one, other) => other.prefix.length - one.prefix.length);
}

function serverIn(spelling: string, prefixes: readonly { server: string; prefix: string }[]): string | undefined {
  return prefixes.find(({ prefix }) => spelling.length > prefix.length && spelling.startsWith(prefix))?.server;
}

function hashOf({ server, name }: NameOwner): string {
  const whole = JSON.stringify([server, name]);
  return sha256(whole, 'hex').slice(0, HASH_LENGTH);
}
