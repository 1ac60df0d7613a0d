// Lists the project's files for the tests in tests/package.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Tracked and new files, without ignored ones; outside a checkout, everything but what npm and the build put there. */
export function projectFiles(): string[] {
  const git = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (git.status !== 0) return filesUnder('.');
  return git.stdout.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path)));
}

/** Folders that npm, the build and runs of tests write; those of the last kind may be gone a moment later. */
const WRITTEN = /(?:^|\/)(?:node_modules|dist|\.git|coverage)$|^(?:bench|tests\/\w+)\/results$|\/\.readme-\w+$/;

/** Paths relative to the project, with forward slashes, in order. */
export function filesUnder(folder: string, wanted: (path: string) => boolean = () => true): string[] {
  const walk = (full: string): string[] => {
    const path = relative(ROOT, full).split(sep).join('/');
    if (WRITTEN.test(path)) return [];
    return statSync(full).isDirectory() ? readdirSync(full).flatMap((name) => walk(join(full, name))) : [path];
  };
  return existsSync(join(ROOT, folder)) ? walk(join(ROOT, folder)).filter(wanted).sort() : [];
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Files of src that are shipped: no tests, no contracts, no fixtures. */
export function sourceFiles(): string[] {
  return filesUnder('src', (path) => path.endsWith('.ts') && !isTest(path));
}

export function isTest(path: string): boolean {
  return /\.(test|contract)\.ts$|\/fixtures\//.test(path);
}
