// The pages in the package are for users: what a reader needs, in words that others use, too.
import { describe, expect, it } from 'vitest';
import { projectFiles, read } from '../helpers/files.ts';

const pages = projectFiles().filter(
  (path) => path === 'README.md' || (/^docs\/(?:guides\/)?[^/]+\.md$/.test(path) && path !== 'docs/specification.md'),
);

describe('the pages for users', () => {
  it('a page for users has none of the words that only we understood', () => {
    const coined = /person's word|a person’s word|logins at pages|takes one word at most/i;
    expect(pages.length).toBeGreaterThan(25);
    expect(pages.filter((path) => coined.test(read(path)))).toEqual([]);
  });

  it('what is written by hand for users stays short enough to be read', () => {
    const words = pages.map((path) => byHand(path).split(/\s+/).filter(Boolean).length);
    expect(words.reduce((sum, one) => sum + one, 0)).toBeLessThan(48_000);
  });
});

/** Without what other tests write or compare: tables of keys and errors, output of commands, and copies of files. */
function byHand(path: string): string {
  const text = path === 'docs/errors.md' ? read(path).replaceAll(/^\| `.*$/gm, '') : read(path);
  return text
    .replaceAll(/<!-- ([\w-]+):begin -->[^]*?<!-- \1:end -->/g, '')
    .replaceAll(/<!-- (?:shell|output|example|file|table): [^>]*-->\n+(?:```[^]*?```|(?:\|.*\n)+)/g, '');
}
