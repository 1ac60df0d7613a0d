// The public names of all that a gateway offers, kept while servers come and go.
// 1. A server that was here before another chooses before it, wherever the two stand in the configuration by now.
// 2. A server that is no longer wanted gives its names back; one that is only away keeps them.
// 3. Under another rule all names are given anew. Those that clients were shown before lead where they did.
import type { Member } from './member.ts';
import { Names } from './names.ts';
import type { Naming } from './names.ts';

export class NameBook {
  readonly tools: Names;
  readonly prompts: Names;
  /** All servers that are or were here, the eldest first. */
  readonly #servers = new Set<string>();
  #naming: Naming;

  constructor(naming: Naming = 'on-collision') {
    this.#naming = naming;
    this.tools = new Names(naming);
    this.prompts = new Names(naming);
  }

  get naming(): Naming {
    return this.#naming;
  }

  /** In the order in which they may choose. */
  byAge(members: readonly Member[]): Member[] {
    for (const { name } of members) this.#servers.add(name);
    const ages = [...this.#servers];
    return members.toSorted((one, other) => ages.indexOf(one.name) - ages.indexOf(other.name));
  }

  release(server: string): void {
    this.#servers.delete(server);
    this.tools.release(server);
    this.prompts.release(server);
  }

  rename(naming: Naming): void {
    if (naming === this.#naming) return;
    this.#naming = naming;
    this.tools.rename(naming);
    this.prompts.rename(naming);
  }
}
