// The code that a configuration runs, found without running it: the files of its steps, what its commands start from its folder (`node server.js`,
// `sh ./run.sh`, `npm start`), and all that these name by path. Paths that a program computes are not found: who trusts a step trusts what it does.
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, extname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enabledServers } from '../../config/config.ts';
import { isStepFile, splitStep } from '../../config/normalize-step.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { readRegularFile } from '../../config/read/read-regular-file.ts';
import { dictionary } from '../../shared/containers/dictionary.ts';
import { sha256 } from '../../shared/crypto/lazy-crypto.ts';
import { GatewayError } from '../../shared/errors.ts';
import { isInside, realPath } from '../../shared/files/paths.ts';
import { MAX_CONFIG_FILE_BYTES, MAX_STEP_FILES } from '../../shared/limits.ts';

/** The content of each file by path; undefined for one that cannot be read. */
type Sources = Map<string, Buffer | undefined>;

/** What is trusted: one digest, and those of the files that it is made of, by path. */
export interface Fingerprint {
  digest: string;
  files: Record<string, string>;
}

/**
 * Of the file, its env files, its steps with what they import by path, and the scripts that its commands start. It is made of the texts that were
 * read and parsed, not of the files as they are by now, so nothing can be changed in between; the sources of steps are read again after they were loaded.
 */
export function fingerprintOf(loaded: LoadedConfig): Fingerprint {
  const parts = new Map<string, string | Buffer | undefined>([
    ...readCommandSources(loaded),
    ...readStepSources(loaded),
    ...loaded.texts,
  ]);
  const files = [...parts].map(([path, text]) => [path, digestOfFile(text)] as const);
  const lines = files.map((file) => JSON.stringify(file)).toSorted();
  return { digest: `sha256:${sha256(lines.join('\n'), 'hex')}`, files: Object.fromEntries(files) };
}

export function digestOfFile(content: string | Buffer | undefined): string {
  return content === undefined ? 'unreadable' : sha256(content, 'hex');
}

/** Of its steps, without those that the user's own configuration adds. Throws if there are too many. */
export function readStepSources({ config, ownSteps }: LoadedConfig): Sources {
  const names = (config?.steps ?? []).slice(ownSteps).map((form) => splitStep(form).name);
  return readSources(names.filter(isStepFile), () => true);
}

/** Only code counts. A file of data, which a server may write itself, would end the trust with every run. */
const CODE = /\.(?:[cm]?[jt]sx?|node|wasm|py|sh|bash|zsh|fish|rb|pl|php|lua|jar|ps1|bat|cmd|exe)$/i;
const NODE = ['package.json', '.npmrc'];
/** What programs read by themselves in the folder in which they start. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = dictionary({
  npm: NODE,
  npx: NODE,
  pnpm: NODE,
  yarn: [...NODE, '.yarnrc.yml'],
  bun: [...NODE, 'bunfig.toml'],
  bunx: [...NODE, 'bunfig.toml'],
  deno: ['deno.json', 'deno.jsonc', 'package.json'],
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  uv: ['pyproject.toml', 'uv.toml'],
  uvx: ['pyproject.toml', 'uv.toml'],
  docker: ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml', 'Dockerfile'],
});
const SETTINGS = new Set(Object.values(IMPLIED).flat());

/** Of its commands. Throws if there are too many. */
export function readCommandSources({ config, path = '' }: LoadedConfig): Sources {
  const commands = (config ? enabledServers(config) : []).flatMap(([, server]) =>
    'command' in server ? [server] : [],
  );
  return toSources(commands.flatMap((one) => filesOf(one, dirname(path))));
}

/** Of one command, of a configuration in this folder. */
export function sourcesOfCommand(command: Command, root: string): Sources {
  return toSources(filesOf(command, root));
}

interface Command {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

function filesOf({ command, args = [], env = {}, cwd = process.cwd() }: Command, root: string): string[] {
  const words = [command, ...args, ...Object.values(env)].flatMap(pathsIn);
  const named = words.filter((word) => !isAbsolute(word) || isInside(word, root));
  const implied = IMPLIED[basename(command)] ?? [];
  return [...named, ...implied].flatMap((word) => resolveAll(resolve(cwd, word)));
}

function toSources(files: readonly string[]): Sources {
  return readSources([...new Set(files)].filter(isCode), isCode);
}

/** A script may be part of a longer text: `--import=./hook.mjs`, `sh -c "node x.js"`. */
function pathsIn(text: string): string[] {
  return [...new Set([text, ...text.split(/[\s'"`=:;,&|()<>]+/)])].filter((word) => word !== '');
}

function isCode(path: string): boolean {
  return CODE.test(path) || SETTINGS.has(basename(path)) || isProgram(path);
}

/** Some file systems call every file executable, data too, so only names without an ending count. */
function isProgram(path: string): boolean {
  try {
    return extname(path) === '' && (statSync(path).mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

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

/** Of these files and of all that they name, if it counts. */
function readSources(files: readonly string[], counts: (path: string) => boolean): Sources {
  const found: Sources = new Map();
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
  const folders = new Set([dirname(path), dirname(realPath(path))]);
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
function resolveAll(path: string): string[] {
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

function read(path: string): Buffer | undefined {
  try {
    return readRegularFile(path, MAX_CONFIG_FILE_BYTES);
  } catch {
    return undefined;
  }
}
