// A feature is a folder of src/gateway/features: it can be added, changed and removed there.
import { describe, expect, it } from 'vitest';
import { importsOf } from '../helpers/imports.ts';

const FEATURES = 'src/gateway/features/';
/** The lists of all features, keys, commands and steps. */
const LISTS = ['index.ts', 'config.ts', 'commands.ts', 'step-order.ts'].map((name) => FEATURES + name);
const MOST = 3;

/** Features that more files know, with the reason. */
const KNOWN_TO_MORE: Record<string, { files: number; why: string }> = {
  audit: {
    files: 4,
    why: 'serve and wrap open the log of this user, tools counts its calls, and programs make one of their own',
  },
};

/** The feature that a file belongs to. */
const featureOf = (path: string): string | undefined => new RegExp(`^${FEATURES}([\\w-]+)/`).exec(path)?.[1];

const crossings = importsOf().filter(({ from, to }) => featureOf(to) && featureOf(from) !== featureOf(to));

describe('features', () => {
  it('a feature is imported by at most three files outside of the features, and by their lists', () => {
    const users = new Map<string, Set<string>>();
    for (const { from, to } of crossings) {
      if (LISTS.includes(from) || featureOf(from)) continue;
      const feature = featureOf(to)!;
      users.set(feature, (users.get(feature) ?? new Set()).add(from));
    }
    const tooMany = [...users].filter(([feature, { size }]) => size > (KNOWN_TO_MORE[feature]?.files ?? MOST));
    expect(tooMany.map(([feature, files]) => [feature, [...files].toSorted()])).toEqual([]);
    const shrunk = Object.entries(KNOWN_TO_MORE).filter(([feature, { files }]) => users.get(feature)!.size < files);
    expect(shrunk).toEqual([]);
  });

  it('features use each other in one direction', () => {
    const uses = new Map<string, Set<string>>();
    for (const { from, to } of crossings) {
      const [user, used] = [featureOf(from), featureOf(to)!];
      if (user) uses.set(user, (uses.get(user) ?? new Set()).add(used));
    }
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      [...(uses.get(from) ?? [])].some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))));
    expect([...uses.keys()].filter((feature) => reaches(feature, feature))).toEqual([]);
  });
});
