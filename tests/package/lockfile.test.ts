// The project does not depend on one machine: locks name no package source, and files name no registry and no local
// path.
import { describe, expect, it } from 'vitest';
import { projectFiles, read } from '../helpers/files.ts';

/** The only home folder that may appear, as an example in documents. */
const EXAMPLE = ['', 'home', 'user', ''].join('/');
const FOLDERS = ['work', 'root', 'home'].join('|');
const MACHINE_PATH = new RegExp(`(?<![\\w.])/(?:${FOLDERS})/[\\w.-]*/?`, 'g');
const REGISTRY = /https?:\/\/[\w.-]*(?:registry|npm)[\w.-]*/gi;
const TEXT = /\.(?:[cm]?[jt]s|json|jsonc|md|ya?ml|html|css|sh)$|(?:^|\/)(?:\.npmrc|\.gitignore|LICENSE|run)$/;

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

interface Locked extends Manifest {
  version?: string;
}

const files = projectFiles().filter((path) => TEXT.test(path));
const locks = files.filter((path) => path.endsWith('package-lock.json'));

describe('package locks', () => {
  it('exist for every package.json', () => {
    const manifests = files.filter((path) => /(?:^|\/)package\.json$/.test(path));
    expect(manifests.filter((path) => !locks.includes(path.replace('package.json', 'package-lock.json')))).toEqual([]);
  });

  it.each(locks)('%s is in step with its package.json', (path) => {
    const { packages } = JSON.parse(read(path)) as { packages: Record<string, Manifest> };
    const manifest = JSON.parse(read(path.replace('package-lock.json', 'package.json'))) as Manifest;
    expect(wantedBy(packages['']!)).toEqual(wantedBy(manifest));
  });

  // Where the registry lacks a platform's binary, npm leaves it out of the lock, and `npm ci` then fails everywhere.
  it.each(locks)('%s holds the binaries of every platform', (path) => {
    expect(missingOptional((JSON.parse(read(path)) as { packages: Record<string, Locked> }).packages)).toEqual([]);
  });

  it.each(locks)('%s names no package source', (path) => {
    expect(read(path)).not.toContain('"resolved"');
  });
});

describe('files', () => {
  it('name no package registry', () => {
    expect(found(REGISTRY)).toEqual([]);
  });

  it('contain no local path', () => {
    expect(found(MACHINE_PATH).filter((line) => !line.includes(EXAMPLE))).toEqual([]);
  });
});

function wantedBy({ dependencies = {}, devDependencies = {}, optionalDependencies = {} }: Manifest): object {
  return { dependencies, devDependencies, optionalDependencies };
}

function missingOptional(packages: Record<string, Locked>): string[] {
  return Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, wanted]) => !isWanted(wanted, resolve(packages, place, name)))
      .map(([name, wanted]) => `${place} wants ${name}@${wanted}`),
  );
}

/** Finds a package as Node does: in the folder of the package that asks, then in every folder above it. */
function resolve(packages: Record<string, Locked>, place: string, name: string): Locked | undefined {
  const found = packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`];
  if (found !== undefined || place === '') return found;
  return resolve(packages, place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/'))), name);
}

/** Binaries are asked for by their exact version; a range is npm's own business. */
function isWanted(wanted: string, locked: Locked | undefined): boolean {
  return locked !== undefined && (!/^\d[\d.]*$/.test(wanted) || locked.version === wanted);
}

function found(pattern: RegExp): string[] {
  return files.flatMap((path) => [...read(path).matchAll(pattern)].map((match) => `${path}: ${match[0]}`));
}
