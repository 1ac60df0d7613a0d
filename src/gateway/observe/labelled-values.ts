// Stores values by several labels in nested maps, so that a call does not have to build a combined key.
export class LabelledValues<T> {
  readonly #names: readonly string[];
  readonly #make: () => T;
  readonly #root: Branch<T> = new Map();

  constructor(names: readonly string[], make: () => T) {
    this.#names = names;
    this.#make = make;
  }

  at(labels: readonly string[]): T {
    let branch = this.#root;
    const last = labels.length - 1;
    for (let i = 0; i < last; i++) branch = grown(branch, labels[i]!, newBranch<T>) as Branch<T>;
    return grown(branch, labels[last]!, this.#make) as T;
  }

  entries(branch = this.#root, labels: Record<string, string> = {}): { labels: Record<string, string>; value: T }[] {
    const name = this.#names[Object.keys(labels).length]!;
    return [...branch].flatMap(([label, below]) => {
      const all = { ...labels, [name]: label };
      return below instanceof Map ? this.entries(below, all) : [{ labels: all, value: below }];
    });
  }
}

type Branch<T> = Map<string, Branch<T> | T>;

function grown<T>(branch: Branch<T>, label: string, make: () => Branch<T> | T): Branch<T> | T {
  let below = branch.get(label);
  if (below === undefined) branch.set(label, (below = make()));
  return below;
}

function newBranch<T>(): Branch<T> {
  return new Map();
}
