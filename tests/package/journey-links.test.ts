// Every file and heading that the documentation links to is there.
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, filesUnder, read } from '../helpers/files.ts';
import { linksOf } from '../helpers/links.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'src/mcp/eras/README.md',
  ...filesUnder('docs', (path) => path.endsWith('.md')),
  ...filesUnder('examples', (path) => path.endsWith('.md')),
];

describe('links', () => {
  it.each(pages)('links in %s exist', (page) => {
    expect(linksOf(page).filter((link) => !isThere(page, link))).toEqual([]);
  });

  it('links of docs/internals/journey.md cover the whole path of a message', () => {
    const journey = linksOf('docs/internals/journey.md').join('\n');
    for (const stage of ['listen', 'wire', 'eras', 'servers', 'kernel']) expect(journey).toContain(`/${stage}/`);
  });

  it('lead from README.md to every page of docs/, and from CONTRIBUTING.md to those for contributors', () => {
    const linked = ['README.md', 'CONTRIBUTING.md'].flatMap(linksOf).map((link) => link.split('#')[0]);
    const topPages = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page));
    expect(topPages.filter((page) => !linked.includes(page))).toEqual([]);
  });
});

function isThere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || !target.endsWith('.md') || slugsOf(target).includes(heading);
}

/** Headings as GitHub names them in links. */
function slugsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map((match) => match[1]!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
