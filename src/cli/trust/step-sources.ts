// The files of steps and what they import by path, found without running them. Paths that a program computes are not found: who trusts a step
// trusts what it does.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const IMPORT =
  /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\brequire(?:\.resolve)?\s*\(\s*|new\s+URL\s*\(\s*)(['"`])((?:\.{1,2})?\/[^'"`$\n]*|\.{1,2})\1/g;
const ENDINGS = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '.tsx', '.jsx'];
const INDEXES = ENDINGS.slice(1).map((ending) => `/index${ending}`);
const MAX_FILES = 1000;

/** The text of each file by path; undefined for one that cannot be read. */
export function readStepSources(steps: readonly string[]): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  const waiting = [...steps];
  for (let path = waiting.pop(); path !== undefined && found.size < MAX_FILES; path = waiting.pop()) {
    if (found.has(path)) continue;
    const text = readText(path);
    found.set(path, text);
    for (const [, , name] of (text ?? '').matchAll(IMPORT)) waiting.push(...resolveAll(resolve(dirname(path), name!)));
  }
  return found;
}

/** Every file that a loader could take for this path, as loaders differ in which they take first. */
function resolveAll(path: string): string[] {
  const asTypeScript = path.replace(/\.([cm]?)js$/, '.$1ts');
  const all = [...ENDINGS.map((ending) => path + ending), ...INDEXES.map((index) => path + index), asTypeScript];
  return [...new Set(all)].filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
