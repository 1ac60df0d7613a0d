// The definitions of one kind, in the order of their registration. Invariants:
// 1. no two entries have the same key and equal scopes;
// 2. a client sees at most one entry per key: the first one whose scope it is in;
// 3. `listed` of an entry is built once and handed out as it is: nobody may change it.
import type { ClientView } from '../protocol/exchange.ts';
import type { JsonObject } from '../protocol/message.ts';
import { GatewayError } from '../shared/errors.ts';
import { isInScope, ScopeSet, toScopeKey } from './scope.ts';
import type { Scope } from './types.ts';

export interface Definition {
  /** Name, URI or URI template. */
  readonly key: string;
  readonly only: Scope | undefined;
  /** What a list shows of it. */
  readonly listed: JsonObject;
}

export class DefinitionRegistry<E extends Definition> {
  #entries = new Set<E>();
  #byKey = new Map<string, E[]>();
  #scoped = 0;
  #listed: JsonObject[] | undefined;
  #everUsed = new ScopeSet();
  readonly #noun: string;

  constructor(noun: string) {
    this.#noun = noun;
  }

  add(entry: E): void {
    const same = this.#byKey.get(entry.key) ?? [];
    const scope = toScopeKey(entry.only);
    if (same.some((other) => toScopeKey(other.only) === scope)) {
      throw new GatewayError('BAD_OPTION', { option: `${this.#noun} ${entry.key}`, reason: 'is registered already' });
    }
    this.#byKey.set(entry.key, [...same, entry]);
    this.#entries.add(entry);
    this.#everUsed.add(entry.only);
    this.#count(entry, 1);
  }

  /** Whether it was there. */
  remove(entry: E): boolean {
    if (!this.#entries.delete(entry)) return false;
    const rest = (this.#byKey.get(entry.key) ?? []).filter((other) => other !== entry);
    if (rest.length === 0) this.#byKey.delete(entry.key);
    else this.#byKey.set(entry.key, rest);
    this.#count(entry, -1);
    return true;
  }

  find(key: string, client: ClientView): E | undefined {
    return this.#byKey.get(key)?.find((entry) => isInScope(entry.only, client));
  }

  /** The first one of this key, whoever may see it. */
  findAny(key: string): E | undefined {
    return this.#byKey.get(key)?.[0];
  }

  visible(client: ClientView): E[] {
    return [...this.#entries].filter((entry) => entry === this.find(entry.key, client));
  }

  /** The lists of a catalogue without scopes are the same for everybody, and most have none. */
  listed(client: ClientView): readonly JsonObject[] {
    if (this.#scoped > 0) return this.visible(client).map((entry) => entry.listed);
    this.#listed ??= [...this.#entries].map((entry) => entry.listed);
    return this.#listed;
  }

  /** Whether this client has, or had, something here. */
  isOffered(client: ClientView): boolean {
    return this.#everUsed.has(client);
  }

  entries(): Iterable<E> {
    return this.#entries;
  }

  #count(entry: E, by: 1 | -1): void {
    this.#listed = undefined;
    if (toScopeKey(entry.only) !== '*|*') this.#scoped += by;
  }
}
