// Decides which clients a definition is for. Compares plain data from the dialect, so no dialect or revision is named here.
import type { ClientView } from '../protocol/exchange.ts';
import type { Scope } from './types.ts';

export function isInScope(scope: Scope | undefined, client: ClientView): boolean {
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
