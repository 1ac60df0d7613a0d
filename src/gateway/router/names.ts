// Public names of what several servers offer. Reversible by construction: a table, never a rule for taking names apart.
// 1. The first server in order that has a name keeps it bare; a later one gets `server__name`.
// 2. A name never changes while its owner is known, whatever other servers come and go.
// 3. No name is longer than 64 characters: clients refuse longer ones. A longer one is cut and gets a hash of the whole.
import { MAX_NAME_LENGTH, toShortName } from '../../shared/short-name.ts';

export interface Owner {
  server: string;
  /** What the server itself calls it. */
  name: string;
}

export type Naming = 'on-collision' | 'always';

export class Names {
  #naming: Naming;
  readonly #owners = new Map<string, Owner>();
  readonly #publics = new Map<string, string>();
  /** Names that were shown under another rule, and are not shown any more. */
  readonly #former = new Map<string, Owner>();

  constructor(naming: Naming = 'on-collision') {
    this.#naming = naming;
  }

  /** The public name; given once, kept for good. */
  publish(owner: Owner): string {
    const key = keyOf(owner);
    const known = this.#publics.get(key);
    if (known !== undefined) return known;
    const name = this.#choose(owner);
    this.#publics.set(key, name);
    this.#owners.set(name, { ...owner });
    return name;
  }

  owner(publicName: string): Owner | undefined {
    return this.#owners.get(publicName) ?? this.#former.get(publicName);
  }

  /** The server is not wanted any more: what it was known by is free for others. */
  release(server: string): void {
    for (const names of [this.#owners, this.#former]) {
      for (const [name, owner] of names) {
        if (owner.server !== server) continue;
        names.delete(name);
        this.#publics.delete(keyOf(owner));
      }
    }
  }

  /** From now on names are given by another rule. */
  rename(naming: Naming): void {
    this.#naming = naming;
    for (const [name, owner] of this.#owners) this.#former.set(name, owner);
    this.#owners.clear();
    this.#publics.clear();
  }

  /** The public name of something known, without giving it one. */
  known(owner: Owner): string | undefined {
    return this.#publics.get(keyOf(owner));
  }

  /** Who has this name of its own, bare: one owner where it is unique, though it was published otherwise. */
  uniquely(name: string): Owner | undefined {
    const owners = [...this.#owners.values()].filter((owner) => owner.name === name);
    return owners.length === 1 ? owners[0] : undefined;
  }

  #choose(owner: Owner): string {
    const prefixed = `${owner.server}__${owner.name}`;
    const wanted = this.#naming === 'always' ? [prefixed] : [owner.name, prefixed];
    for (const name of wanted) {
      const short = toShortName(name);
      if (!this.#owners.has(short)) return short;
    }
    // Two servers may conspire: "a" with "b__c" and "a__b" with "c". The hash of the pair tells them apart.
    return toShortName(prefixed, `${prefixed}${'\0'.repeat(MAX_NAME_LENGTH)}${keyOf(owner)}`);
  }
}

function keyOf({ server, name }: Owner): string {
  return JSON.stringify([server, name]);
}
