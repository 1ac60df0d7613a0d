// Checks the content of the package. Its pages link only to packed files, because there is no checkout around them.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { publint } from 'publint';
import { expect, it } from 'vitest';
import { ROOT, read } from '../helpers/files.ts';
import { linksIn, linksOf } from '../helpers/links.ts';

/** Once: npm reads every file of the project for it. */
const { unpackedSize, files: packedFiles } = pack();
const packed = packedFiles.map(({ path }) => path);

function pack(): { unpackedSize: number; files: { path: string }[] } {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const [first] = JSON.parse(stdout) as [ReturnType<typeof pack>];
  return first;
}

it('every relative link of a packed page leads to a packed file or folder', () => {
  const folders = new Set(packed.flatMap(foldersOf));
  const pages = packed.filter((path) => path.endsWith('.md'));
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/cli.md']));
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .map((link) => link.split('#')[0]!)
      .filter((path) => path !== '')
      .map((path) => posix.join(posix.dirname(page), path).replace(/\/$/, ''))
      .filter((target) => !packed.includes(target) && !folders.has(target))
      .map((target) => `${page} links to ${target}`),
  );
  expect(dead).toEqual([]);
});

it('the package contains only what runs and what users read: no tests, no sources, no maps', () => {
  expect(
    packed.filter((path) =>
      /^dist.*\.(?:test|contract)\.|\.map$|^(?:src|tests|bench)\/|internals|check\.mjs$/.test(path),
    ),
  ).toEqual([]);
  expect(packed).toEqual(
    expect.arrayContaining(['dist/_entries/index.js', 'dist/_entries/index.d.ts', 'dist/cli/main.js']),
  );
  expect(packed.filter((path) => path.startsWith('dist/')).length).toBeLessThanOrEqual(140);
  expect(packed.length).toBeLessThanOrEqual(300);
});

it('the package takes less than 5 MB, and what is always installed with it less than 25 MB', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
  const needed = Object.entries(packages).filter(
    ([path, { dev, optional, peer }]) => path && !dev && !optional && !peer,
  );
  expect(needed.length).toBeGreaterThan(10);
  expect(unpackedSize).toBeLessThan(5e6);
  expect(needed.reduce((sum, [path]) => sum + sizeOf(join(ROOT, path)), 0)).toBeLessThan(25e6);
});

it('publint reports no problem', async () => {
  const files = packed.map((path) => ({ name: `package/${path}`, data: readFileSync(join(ROOT, path)) }));
  const { messages } = await publint({ pkgDir: 'package', pack: { files }, strict: true });
  expect(messages).toEqual([]);
});

it('a link is found in every form that Markdown has', () => {
  const page =
    '[a](a.md "A") ![b](b.png) [c](<c.md#d>) [d][e] <img src="f.png"> `[no](no.md)` [web](https://a.b/c.md)\n\n[e]: e.md\n';
  expect(linksIn(page).toSorted()).toEqual(['a.md', 'b.png', 'c.md#d', 'e.md', 'f.png']);
});

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  peer?: boolean;
}

/** Without packages inside, which have rows of their own in the lock. */
function sizeOf(path: string): number {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.size;
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function foldersOf(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}
