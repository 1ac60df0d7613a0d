// Folders in which imports go one way, between files and between folders, imports of types included.
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { read, sourceFiles } from '../helpers/files.ts';

const ONE_WAY = ['src/flow/session'];

it.each(ONE_WAY)('the files and the folders of %s import each other in one direction', (root) => {
  const files = sourceFiles().filter((path) => path.startsWith(`${root}/`));
  expect(files.length).toBeGreaterThan(10);
  const imports = files.flatMap((from) =>
    [...read(from).matchAll(/from '(\.[^']+)'/g)].map(
      ([, to]) => [from, posix.join(posix.dirname(from), to!)] as const,
    ),
  );
  const inside = imports.filter(([, to]) => files.includes(to));
  const folders = inside.map(([from, to]) => [posix.dirname(from), posix.dirname(to)] as const);
  expect(cyclesIn(inside)).toEqual([]);
  expect(cyclesIn(folders.filter(([from, to]) => from !== to))).toEqual([]);
});

/** What is left when everything is taken away that imports nothing of what is left. */
function cyclesIn(edges: readonly (readonly [string, string])[]): string[] {
  let left = [...edges];
  for (let before = -1; before !== left.length;) {
    before = left.length;
    const importing = new Set(left.map(([from]) => from));
    left = left.filter(([, to]) => importing.has(to));
  }
  return left.map(([from, to]) => `${from} -> ${to}`);
}
