// The definitions of one kind (tools, prompts, …), in the order of registration, each for the clients in its scope. Invariants:
// 1. no two definitions have the same key and equal scopes;
// 2. a client sees at most one definition per key: the first one whose scope includes it;
// 3. `listed` is built once and shared, so nobody may change it.
import type { ClientView } from '../../kernel/exchange.ts';
import { present } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Scope } from './types.ts';

export interface Definition {
  /** Name, URI or URI template. */
  readonly key: string;
  readonly only: Scope | undefined;
  /** The entry in lists. */
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

  /** False if it was not registered. */
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

  /** The first definition of this key, in any scope. */
  findAny(key: string): E | undefined {
    return this.#byKey.get(key)?.[0];
  }

  visible(client: ClientView): E[] {
    return [...this.#entries].filter((entry) => entry === this.find(entry.key, client));
  }

  /** Without scopes, which are rare, all clients get the same list. */
  listed(client: ClientView): readonly JsonObject[] {
    if (this.#scoped > 0) return this.visible(client).map((entry) => entry.listed);
    this.#listed ??= [...this.#entries].map((entry) => entry.listed);
    return this.#listed;
  }

  /** Whether anything is, or was, registered for this client. */
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

interface Described {
  title?: string;
  description?: string;
  icons?: object[];
  meta?: JsonObject;
}

/** The list entry of a definition, without undefined fields. */
export function toListEntry(identity: JsonObject, { title, description, icons, meta }: Described, own: JsonObject) {
  return present({ ...identity, title, description, ...own, icons, _meta: meta });
}

/** Compares plain data from the dialect, so no dialect or revision is named here. */
function isInScope(scope: Scope | undefined, client: ClientView): boolean {
  if (scope === undefined) return true;
  const { dialects, revisions } = scope;
  return (dialects?.includes(client.dialect) ?? true) && (revisions?.includes(client.revision) ?? true);
}

/** Equal for scopes that include the same clients. */
export function toScopeKey(scope: Scope | undefined): string {
  return `${sorted(scope?.dialects)}|${sorted(scope?.revisions)}`;
}

function sorted(words: string[] | undefined): string {
  return words === undefined ? '*' : [...new Set(words)].sort().join(',');
}

/**
 * All scopes that were ever used. It never shrinks: a client that has seen an area may still use it after the last definition is removed.
 */
export class ScopeSet {
  #scopes = new Map<string, Scope | undefined>();
  #forAll = false;

  add(scope: Scope | undefined): void {
    const key = toScopeKey(scope);
    this.#scopes.set(key, scope);
    this.#forAll ||= key === '*|*';
  }

  has(client: ClientView): boolean {
    if (this.#forAll) return true;
    for (const scope of this.#scopes.values()) if (isInScope(scope, client)) return true;
    return false;
  }
}
