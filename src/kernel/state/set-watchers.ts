// Who waits for changes of which set.

export class SetWatchers {
  readonly #bySet = new Map<string, Set<() => void>>();

  get sets(): string[] {
    return [...this.#bySet.keys()];
  }

  add(set: string, changed: () => void): () => void {
    const called = (): void => changed(); // the same function may watch twice
    const watching = this.#bySet.get(set) ?? new Set();
    this.#bySet.set(set, watching.add(called));
    return () => {
      watching.delete(called);
      if (watching.size === 0 && this.#bySet.get(set) === watching) this.#bySet.delete(set);
    };
  }

  tell(set: string): void {
    for (const changed of this.#bySet.get(set) ?? []) changed();
  }

  clear(): void {
    this.#bySet.clear();
  }
}
