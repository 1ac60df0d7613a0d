// docs/evidence/attacks.md names a test for each finding and each requirement about security. The tests have to exist, and a finding
// without a test is an error.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';

/** Findings whose second half is not tested yet. Remove one when its test is there. */
const OPEN: readonly string[] = [];

const text = readFileSync(join(ROOT, 'docs/evidence/attacks.md'), 'utf8');

function rowsOf(heading: string): string[][] {
  const [, part = ''] = text.split(`\n## ${heading}\n`);
  const lines = part
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it.each(['Findings of November 2026', 'Requirements'])('every row of "%s" names a test that exists', (heading) => {
  const rows = rowsOf(heading);
  expect(rows.length).toBeGreaterThan(20);
  for (const [row = '', ...cells] of rows) {
    const tests = [...(cells.at(-1) ?? '').matchAll(/`([^`\s]+\/[^`\s]+\.\w+)`/g)].map(([, path]) => path!);
    const isOpen = OPEN.some((one) => row.startsWith(one));
    const isMissing = tests.length === 0 || /[–—]/.test(cells.at(-1) ?? '');
    expect([row, isMissing && !isOpen]).toEqual([row, false]);
    for (const path of tests) expect([row, path, existsSync(join(ROOT, path))]).toEqual([row, path, true]);
  }
});

it('no finding is left out', () => {
  const found = rowsOf('Findings of November 2026').map(([row = '']) => row.split(' ')[0]);
  const all = ['C1', 'C2', ...range('H', 9), ...range('M', 7)];
  expect(all.filter((one) => !found.includes(one))).toEqual([]);
});

function range(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
}
