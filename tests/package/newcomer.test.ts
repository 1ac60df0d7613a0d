// docs/evidence/newcomer.md has a row for each of the 43 findings of somebody new, with the tests that show it mended, or the reason why it stays.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, read } from '../helpers/files.ts';
import { isTitle } from '../helpers/test-titles.ts';

const FINDINGS = 43;
const rows = read('docs/evidence/newcomer.md')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split(' | '));

/** The files that a row names, each with the titles in quotes that follow it. */
function shownBy(cell: string): { path: string; titles: string[] }[] {
  return [...cell.matchAll(/`((?:src|tests)\/[^`\s]+)`((?:,? "(?:[^"\\]|\\.)+")*)/g)].map(([, path, quoted = '']) => ({
    path: path!,
    titles: [...quoted.matchAll(/"((?:[^"\\]|\\.)+)"/g)].map(([, title]) => title!),
  }));
}

describe('the findings of somebody new', () => {
  it('each of the 43 findings has a row of its own, with a state and what shows it', () => {
    expect(rows.map(([number = '']) => Number(number.replace('| ', '')))).toEqual(
      Array.from({ length: FINDINGS }, (_, index) => index + 1),
    );
    expect(rows.filter(([, , state = '', shown = '']) => state.length < 5 || shownBy(shown).length === 0)).toEqual([]);
  });

  it('each test that a finding names exists, with its title', () => {
    const named = rows.flatMap(([, , , shown = '']) => shownBy(shown));
    expect(named.flatMap(({ titles }) => titles).length).toBeGreaterThan(40);
    const missing = named.flatMap(({ path, titles }) => {
      if (!existsSync(join(ROOT, path))) return [path];
      const source = read(path);
      return titles
        .filter((title) => !isTitle(source, title.replaceAll(String.raw`\"`, `"`)))
        .map((title) => `${path}: ${title}`);
    });
    expect(missing).toEqual([]);
  });
});
