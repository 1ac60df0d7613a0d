// Notifies listeners of changes. A batch is reported as one change per kind, with the difference between its start and its end, or not at
// all if nothing differs. Changes are reported only after they are made.
import type { Change } from '../../kernel/target.ts';
import type { DefinitionRegistry, Definition } from './definition-registry.ts';
import { toScopeKey } from './definition-registry.ts';
import type { Registration } from './types.ts';

type Kind = 'tools' | 'prompts' | 'resources';
type HasEntries = { entries(): Iterable<Definition> };
type Tracked = { kind: Kind; registry: HasEntries };
type Difference = { added: Definition[]; removed: Definition[] };

/** Definitions by key and scope; those with equal list entries count as equal. */
type Picture = Map<string, { entry: Definition; text: string }>;

export class Changes {
  #listeners = new Set<(change: Change) => void>();
  #tracked: Tracked[] = [];
  #inBatch = false;

  watch(listener: (change: Change) => void): () => void {
    // Wrapped, so that one function that watches twice is called twice and stopped separately.
    const own = (change: Change) => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Includes a registry in batches. */
  track(kind: Kind, registry: HasEntries): void {
    this.#tracked.push({ kind, registry });
  }

  register<E extends Definition>(kind: Kind, registry: DefinitionRegistry<E>, entry: E): Registration {
    registry.add(entry);
    this.#tellOne(kind, { added: [entry], removed: [] });
    return {
      remove: () => {
        if (registry.remove(entry)) this.#tellOne(kind, { added: [], removed: [entry] });
      },
    };
  }

  /** A nested batch is part of the outer one. */
  batch(work: () => void, options: { silent?: boolean } = {}): void {
    if (this.#inBatch) return work();
    const before = this.#tracked.map(({ registry }) => toPicture(registry));
    this.#inBatch = true;
    try {
      work();
    } finally {
      this.#inBatch = false;
      if (options.silent !== true) this.#tellDifference(before);
    }
  }

  #tellOne(kind: Kind, difference: Difference): void {
    if (!this.#inBatch) this.tell(toChange(kind, difference));
  }

  #tellDifference(before: Picture[]): void {
    const differences = new Map<Kind, Difference>();
    for (const [index, { kind, registry }] of this.#tracked.entries()) {
      const { added, removed } = compare(before[index] ?? new Map(), toPicture(registry));
      if (added.length + removed.length === 0) continue;
      const known = differences.get(kind) ?? { added: [], removed: [] };
      differences.set(kind, { added: [...known.added, ...added], removed: [...known.removed, ...removed] });
    }
    for (const [kind, difference] of differences) this.tell(toChange(kind, difference));
  }
}

function toPicture(registry: HasEntries): Picture {
  const picture: Picture = new Map();
  for (const entry of registry.entries()) {
    picture.set(`${toScopeKey(entry.only)} ${entry.key}`, { entry, text: JSON.stringify(entry.listed) });
  }
  return picture;
}

/** A replaced definition counts as added. */
function compare(before: Picture, after: Picture): Difference {
  const added = [...after].filter(([id, { text }]) => before.get(id)?.text !== text);
  const removed = [...before].filter(([id]) => !after.has(id));
  return { added: added.map(([, { entry }]) => entry), removed: removed.map(([, { entry }]) => entry) };
}

function toChange(kind: Kind, difference: Difference): Change {
  if (kind !== 'tools') return { kind };
  return {
    kind,
    added: difference.added.map(({ key, listed }) => ({
      name: key,
      description: typeof listed['description'] === 'string' ? listed['description'] : undefined,
    })),
    removed: difference.removed.map(({ key }) => key),
  };
}
