// The laws of the tree: what its files may do to each other, counted from the source.
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { read, sourceFiles } from '../helpers/files.ts';

it('files of src import each other in no circle, by value or by type', () => {
  const imports = sourceFiles().flatMap((from) =>
    importsIn(read(from)).map((to) => [from, posix.join(posix.dirname(from), to)] as const),
  );
  expect(imports.length).toBeGreaterThan(sourceFiles().length);
  expect(circlesOf(imports)).toEqual([]);
});

it('a circle of files is found, also one of types, and what leads into it is not part of it', () => {
  expect(importsIn("import { a } from './a.ts';\nimport type { B } from '../b.ts';\nexport * from './c.ts';")).toEqual([
    './a.ts',
    '../b.ts',
    './c.ts',
  ]);
  expect(importsIn("const late = await import('./late.ts');\nimport { join } from 'node:path';")).toEqual([
    './late.ts',
  ]);
  const edges = [
    ['in', 'a'],
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
    ['c', 'out'],
    ['d', 'e'],
    ['e', 'd'],
  ] as const;
  expect(circlesOf(edges)).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]);
});

/** The files that a text imports or exports from, or loads when it runs. */
function importsIn(text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g)].map(([, to]) => to!);
}

/** Groups of files each of which reaches all others of its group, sorted. */
function circlesOf(imports: readonly (readonly [from: string, to: string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of imports) next.set(from, [...(next.get(from) ?? []), to]);
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set<string>();
    const open = [start];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      for (const to of next.get(file) ?? []) {
        if (reached.has(to)) continue;
        reached.add(to);
        open.push(to);
      }
    }
    return reached;
  };
  const reached = new Map([...next.keys()].map((file) => [file, reachedFrom(file)]));
  const circles = new Map<string, string[]>();
  for (const [file, all] of reached) {
    if (!all.has(file)) continue;
    const circle = [...all].filter((other) => reached.get(other)?.has(file)).toSorted();
    circles.set(circle.join(' '), circle);
  }
  return [...circles.values()].toSorted((a, b) => (a[0]! < b[0]! ? -1 : 1));
}

it('createServer loads nothing of the gateway and no page until a page is opened', () => {
  const loaded = loadedWith('src/sdk/server/create-server.ts');
  expect(loaded.size).toBeGreaterThan(50);
  expect([...loaded].filter((file) => /^src\/(?:gateway|people\/page)\//.test(file))).toEqual([]);
});

/** The file, and all that it imports by value. */
function loadedWith(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  for (const [, kind, names = '', to = ''] of read(file).matchAll(/^(import|export) ([^;]*?)from '(\.[^']+)'/gm)) {
    const isOfTypes = /^type\b/.test(names) || /^\{(?:\s*type \w+(?: as \w+)?,?)+\s*\}/.test(names);
    if (kind && !isOfTypes) loadedWith(posix.join(posix.dirname(file), to), loaded);
  }
  return loaded;
}
