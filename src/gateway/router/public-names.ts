// Public names of the tools or prompts of one set of servers. They follow from the configuration, never from which server came up
// first, so that a name cannot lead to another server after a restart.
// 1. `always`: every name is `server__name`. `on-collision`: a name is bare where no server that is configured earlier has it. While
//    an earlier server has not listed its names, it may have any of them: then the name is qualified.
// 2. The qualified form `server__name` is always understood. No bare name may look like one of another server.
// 3. Server names may contain `__`: the longest server name that fits owns `a__b__c`. A tool of another server that would be called
//    the same gets a hash in front.
// 4. No name is longer than 64 characters, because clients refuse longer ones. A longer one is cut and gets a hash of the whole.
import { BoundedMap } from '../../shared/containers/bounded-map.ts';
import { lazyCrypto } from '../../shared/crypto/lazy-crypto.ts';
import { MAX_NAME_LENGTH, toShortName } from '../../shared/short-name.ts';

export interface NameOwner {
  server: string;
  /** What the server itself calls it. */
  name: string;
}

export type NamingMode = 'on-collision' | 'always';

/** How a gateway names things, and the names of all its servers in the order of the configuration. */
export interface NamingRules {
  naming: NamingMode;
  servers: readonly string[];
}

export const QUALIFIER = '__';
/** Of one server; beyond that its names count as unknown. */
const MAX_NAMES = 10_000;
/** Names that are not made of server and name alone. */
const MAX_SPECIAL = 10_000;
const HASH_LENGTH = 8;

export class PublicNames {
  readonly #servers: readonly string[];
  /** Longest first. */
  readonly #prefixes: readonly { server: string; prefix: string }[];
  readonly #naming: NamingMode;
  /** By server, what it has ever listed; absent while that is not known. */
  readonly #listed = new Map<string, Set<string>>();
  /** Owners of names that were cut or have a hash in front. */
  readonly #special = new BoundedMap<string, NameOwner>(MAX_SPECIAL);
  /** Bare names that were cut, and the whole of them. */
  readonly #cut = new BoundedMap<string, string>(MAX_SPECIAL);

  /** `servers`: in the order of the configuration. */
  constructor(servers: readonly string[], naming: NamingMode = 'always') {
    this.#servers = servers;
    this.#naming = naming;
    this.#prefixes = toPrefixes(servers);
  }

  /** What was learnt of servers that are still the same ones. */
  inherit(previous: PublicNames, servers: readonly string[]): void {
    for (const server of servers) {
      const listed = previous.#listed.get(server);
      if (listed) this.#listed.set(server, listed);
    }
  }

  /** Takes in a list. A name that was listed once stays reserved for its server. */
  learn(server: string, names: readonly string[]): void {
    if (this.#naming === 'always') return;
    const listed = this.#listed.get(server) ?? new Set();
    this.#listed.set(server, listed);
    for (const name of names) if (listed.size <= MAX_NAMES) listed.add(name);
  }

  /** Whether names depend on lists that have not come yet. */
  get isIncomplete(): boolean {
    return this.#naming === 'on-collision' && !this.#servers.every((server) => this.#isKnown(server));
  }

  publish(owner: NameOwner): string {
    if (this.#naming === 'always' || !this.#mayBeBare(owner)) return this.#qualified(owner);
    const short = toShortName(owner.name);
    if (short !== owner.name) this.#cut.set(short, owner.name);
    return short;
  }

  /** Whose name this is, by its public or its qualified form, as far as that is known. */
  owner(spelling: string): NameOwner | undefined {
    const special = this.#special.get(spelling);
    if (special) return special;
    const server = serverIn(spelling, this.#prefixes);
    if (server !== undefined) return { server, name: spelling.slice(server.length + QUALIFIER.length) };
    return this.#naming === 'always' ? undefined : this.#bareOwner(this.#cut.get(spelling) ?? spelling);
  }

  /** The first server in order that has the name, unless one before it may have it, too. */
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

/** Whether a server calls something of its own like something of another server. */
export function posesAsAnother({ server, name }: NameOwner, servers: readonly string[]): boolean {
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
  return lazyCrypto().createHash('sha256').update(whole).digest('hex').slice(0, HASH_LENGTH);
}
