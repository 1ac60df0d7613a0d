// Files of code and what they name by path, found without running them. Paths that a program computes are not found: who trusts a step
// trusts what it does.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRegularFile } from '../../config/read/read-regular-file.ts';
import { GatewayError } from '../../shared/errors.ts';
import { MAX_CONFIG_FILE_BYTES, MAX_STEP_FILES } from '../../shared/limits.ts';

const IMPORT =
  /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\brequire(?:\.resolve)?\s*\(\s*|new\s+URL\s*\(\s*)(['"`])((?:\.{1,2}|file:\/\/)?\/[^'"`$\n]*|\.{1,2})\1/g;
/** Any text that is a relative path, or the path of code, as there are many ways to import it. The last quote may be the first of another text. */
const NAMED = /(['"`])(\.{1,2}(?:\/[^'"`\n]*)?|(?:file:\/\/)?\/[^'"`\n]*\.(?:[cm]?[jt]sx?|json|node|wasm))(?=\1)/g;
/** What it means is said by `imports` of the package.json. */
const OF_PACKAGE = /['"`]#[\w@/-]/;
/** Words of a script that may be files, and modules of Python. */
const WORD = /[^\s'"`=;&|()<>]+/g;
const PYTHON = /^[ \t]*(?:from|import)[ \t]+([\w.]+)/gm;
const MAX_SCRIPT = 256 * 1024;
const ENDINGS = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '.node', '.tsx', '.jsx', '.py'];
const PACKAGE = 'package.json';
const IN_FOLDER = [PACKAGE, '__init__.py', '__main__.py', ...ENDINGS.slice(1).map((ending) => `index${ending}`)];

/** The content of each file by path; undefined for one that cannot be read. Throws if there are too many. `counts`: whether a named file does. */
export function readSources(
  files: readonly string[],
  counts: (path: string) => boolean = () => true,
): Map<string, Buffer | undefined> {
  const found = new Map<string, Buffer | undefined>();
  const waiting = [...files];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    if (found.size >= MAX_STEP_FILES) throw tooMany();
    const content = read(path);
    found.set(path, content);
    if (content) waiting.push(...[...namedIn(path, content.toString('utf8'))].filter(counts));
  }
  return found;
}

function tooMany(): GatewayError {
  const reason = `they import more than ${MAX_STEP_FILES} files, which are too many to compare; bundle them, or import them as a package`;
  return new GatewayError('BAD_OPTION', { option: 'steps', reason });
}

/** Paths start at the file or, if it is a link, at the file that it leads to: loaders differ. */
function namedIn(path: string, text: string): Set<string> {
  const names = new Set([...text.matchAll(IMPORT), ...text.matchAll(NAMED)].map(([, , name]) => name!));
  if (basename(path) === PACKAGE) for (const name of stringsOf(text)) names.add(name);
  else for (const name of wordsOf(path, text)) names.add(name);
  const folders = new Set([dirname(path), dirname(real(path))]);
  const paths = [...names].flatMap(spellingsOf).flatMap((name) => [...folders].map((folder) => resolve(folder, name)));
  return new Set(paths.flatMap(resolveAll));
}

/** What a script of a shell or of Python starts is not quoted, and `#` leads to the nearest package.json. */
function wordsOf(path: string, text: string): string[] {
  const ofPackage = OF_PACKAGE.test(text) ? nearestPackage(dirname(path)) : [];
  return [...ofPackage, ...(text.length > MAX_SCRIPT ? [] : startedBy(path, text))];
}

function startedBy(path: string, text: string): string[] {
  if (/\.py$/i.test(path)) return [...text.matchAll(PYTHON)].map(([, name]) => toModuleFile(name!));
  const isScript =
    /\.(?:sh|bash|zsh|fish|ps1|bat|cmd)$/i.test(path) || /^#!.*sh\b/.test(text) || path.endsWith('akefile');
  return isScript ? [...new Set(text.match(WORD))] : [];
}

function toModuleFile(name: string): string {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(name)!;
  return `${dots.length > 1 ? '../'.repeat(dots.length - 1) : './'}${rest.replaceAll('.', '/')}`;
}

function nearestPackage(folder: string): string[] {
  const file = join(folder, PACKAGE);
  if (existsSync(file)) return read(file)?.includes('"imports"') ? [file] : [];
  return dirname(folder) === folder ? [] : nearestPackage(dirname(folder));
}

/** A specifier may be a URL. */
function spellingsOf(name: string): string[] {
  const bare = name.replace(/[?#].*$/s, '');
  try {
    return name.startsWith('file:') ? [fileURLToPath(bare)] : [name, bare, decodeURIComponent(bare)];
  } catch {
    return [name, bare];
  }
}

/** All texts in a package.json: its `main` and `exports` may name files in many ways. */
function stringsOf(text: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(text, (_, value: unknown) => {
      if (typeof value === 'string') found.push(value);
      return value;
    });
  } catch {
    // no loader can read it, either
  }
  return found;
}

/** Every file that a loader could take for this path, as loaders differ in which they take first. */
export function resolveAll(path: string): string[] {
  const asTypeScript = path.replace(/\.([cm]?)js$/, '.$1ts');
  const all = [
    ...ENDINGS.map((ending) => path + ending),
    ...IN_FOLDER.map((name) => resolve(path, name)),
    asTypeScript,
  ];
  return [...new Set(all)].filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function read(path: string): Buffer | undefined {
  try {
    return readRegularFile(path, MAX_CONFIG_FILE_BYTES);
  } catch {
    return undefined;
  }
}
