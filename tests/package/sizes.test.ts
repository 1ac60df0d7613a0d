// Files stay small enough to be read at one sitting, and a folder stays one subject. A file that has to be larger is listed with its size, which may only shrink.
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, isTest, read, sourceFiles } from '../helpers/files.ts';

const SOURCE_LINES = 400;
const TEST_LINES = 500;
const FOLDER_FILES = 20;

/** Tables and generated files, by name and present size. */
const LARGER: Record<string, number> = {};

describe('files of src', () => {
  const files = filesUnder('src', (path) => path.endsWith('.ts')).map((path) => ({ path, lines: linesOf(path) }));

  it('files of src have at most 400 lines, tests 500', () => {
    const limit = (path: string) => LARGER[path] ?? (isTest(path) ? TEST_LINES : SOURCE_LINES);
    expect(files.filter(({ path, lines }) => lines > limit(path))).toEqual([]);
  });

  it('files of src are listed as larger only if they are', () => {
    const present = new Map(files.map(({ path, lines }) => [path, lines]));
    expect(Object.entries(LARGER).filter(([path, lines]) => present.get(path) !== lines)).toEqual([]);
  });
});

describe('folders of src', () => {
  it('contain at most 20 source files', () => {
    const counts = new Map<string, number>();
    for (const path of sourceFiles()) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > FOLDER_FILES)).toEqual([]);
  });
});

describe('README.md', () => {
  it('README.md has at most 120 lines', () => {
    expect(linesOf('README.md')).toBeLessThanOrEqual(120);
  });
});

function linesOf(path: string): number {
  return read(path).split('\n').length - 1;
}
