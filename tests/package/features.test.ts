// A feature is a folder of src/gateway/features: it can be added, changed and removed there.
import { describe, expect, it } from 'vitest';
import { read, sourceFiles } from '../helpers/files.ts';
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

/** Rules name servers, tools and steps of the whole file, so their check reads more than their own key. */
const CONFIG_KNOWS: Record<string, string> = { 'src/config/check/check-rules.ts': 'rules' };

/** The feature that a file belongs to. */
const featureOf = (path: string): string | undefined => new RegExp(`^${FEATURES}([\\w-]+)/`).exec(path)?.[1];

const crossings = importsOf().filter(({ from, to }) => featureOf(to) && featureOf(from) !== featureOf(to));

describe('features', () => {
  it('a feature is imported or named by its folder in at most three files outside of the features and their lists', () => {
    const users = new Map<string, Set<string>>();
    for (const { from, to } of crossings) {
      if (LISTS.includes(from) || featureOf(from)) continue;
      const feature = featureOf(to)!;
      users.set(feature, (users.get(feature) ?? new Set()).add(from));
    }
    for (const from of sourceFiles()) {
      if (from.startsWith(FEATURES)) continue;
      for (const [, feature] of read(from).matchAll(/\bfeatures\/([\w-]+)\//g))
        users.set(feature!, (users.get(feature!) ?? new Set()).add(from));
    }
    const tooMany = [...users].filter(([feature, { size }]) => size > (KNOWN_TO_MORE[feature]?.files ?? MOST));
    expect(tooMany.map(([feature, files]) => [feature, [...files].toSorted()])).toEqual([]);
    const shrunk = Object.entries(KNOWN_TO_MORE).filter(([feature, { files }]) => users.get(feature)!.size < files);
    expect(shrunk).toEqual([]);
  });

  it('the configuration knows the features by their lists', () => {
    const known = crossings.filter(({ from }) => from.startsWith('src/config/'));
    expect(known.filter(({ from, to }) => CONFIG_KNOWS[from] !== featureOf(to))).toEqual([]);
    expect(Object.keys(CONFIG_KNOWS).filter((from) => known.every((one) => one.from !== from))).toEqual([]);
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
