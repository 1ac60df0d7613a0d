// The code that a configuration runs, found without running it: the files of its steps, what its commands start from its folder (`node server.js`,
// `sh ./run.sh`, `npm start`), and all that these name by path. Paths that a program computes are not found: who trusts a step trusts what it does.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve, extname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { isStepFile, splitStep } from '../../config/normalize-step.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { readRegularFile } from '../../config/read/read-regular-file.ts';
import { dictionary } from '../../kernel/containers/dictionary.ts';
import { lazyCrypto, sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { isInside, realPath } from '../../kernel/files/paths.ts';
import { MAX_STEP_FILES } from '../../kernel/base/limits.ts';
import { FolderLook } from './folder-look.ts';
import { programOf, spellingsOfWord, toCommandWords, toScriptLines, toVariableWords } from './command-words.ts';

/** The digest of each file by path. */
type Sources = Map<string, string>;

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
  const texts = [...loaded.texts].map(([path, text]) => [path, sha256(text, 'hex')] as const);
  const files = new Map<string, string>([...readCommandSources(loaded), ...readStepSources(loaded), ...texts]);
  const lines = [...files].map((file) => JSON.stringify(file)).toSorted();
  return { digest: `sha256:${sha256(lines.join('\n'), 'hex')}`, files: Object.fromEntries(files) };
}

/** Of its steps, without those that the user's own configuration adds. Throws if there are too many. */
export function readStepSources({ config, ownSteps }: LoadedConfig): Sources {
  const names = (config?.steps ?? []).slice(ownSteps).map((form) => splitStep(form).name);
  const look = new FolderLook();
  return readSources(names.filter(isStepFile), (path, text) => namedIn(path, text, look));
}

const NODE = ['package.json', '.npmrc'];
const MAKE = ['GNUmakefile', 'makefile', 'Makefile'];
/** What programs read by themselves in the folder in which they start. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = dictionary({
  npm: NODE,
  npx: NODE,
  pnpm: NODE,
  yarn: [...NODE, '.yarnrc.yml'],
  bun: [...NODE, 'bunfig.toml'],
  bunx: [...NODE, 'bunfig.toml'],
  deno: ['deno.json', 'deno.jsonc', 'package.json'],
  make: MAKE,
  gmake: MAKE,
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'taskfile.yaml'],
  rake: ['Rakefile', 'rakefile', 'Rakefile.rb'],
  bundle: ['Gemfile'],
  cargo: ['Cargo.toml', 'build.rs', 'src/main.rs', '.cargo/config.toml'],
  go: ['go.mod', 'main.go'],
  poetry: ['pyproject.toml'],
  pipenv: ['Pipfile'],
  tsx: ['tsconfig.json'],
  mise: ['mise.toml', '.mise.toml'],
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
  const found: Sources = new Map();
  for (const one of commands)
    for (const [file, digest] of sourcesOfCommand(one, dirname(path))) found.set(file, digest);
  if (found.size > MAX_STEP_FILES) throw tooMany();
  return found;
}

/** The files and folders that a configuration declares to be data. */
export function dataIn(config: ParleyConfig): string[] {
  return enabledServers(config).flatMap(([, server]) => ('command' in server ? (server.data ?? []) : []));
}

interface Command {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** Files and folders of data, absolute: they count only if they look like code. */
  readonly data?: readonly string[] | undefined;
}

/** Of one command, of a configuration in the folder `root`. Throws if there are too many. */
export function sourcesOfCommand(command: Command, root: string): Sources {
  return new CommandSources(command, root).read();
}

/**
 * The files that one command may run. Every file below the folder of the configuration that a command line, or a script, names counts, whatever it is called,
 * unless it is data (command-words.ts); of other files only those that look like code. Programs are also looked up on the PATH that the server gets.
 */
class CommandSources {
  readonly #command: Command;
  readonly #root: string;
  readonly #cwd: string;
  readonly #programs: readonly string[];
  readonly #look = new FolderLook();

  constructor(command: Command, root: string) {
    this.#command = command;
    this.#root = root;
    const { env = {}, cwd = process.cwd() } = command;
    this.#cwd = cwd;
    const [, path = process.env['PATH'] ?? ''] = Object.entries(env).find(([name]) => /^path$/i.test(name)) ?? [];
    const folders = path.split(delimiter).map((folder) => resolve(cwd, folder === '' ? '.' : folder));
    this.#programs = folders.filter((folder) => folder === root || isInside(folder, root));
  }

  read(): Sources {
    const { command, args = [], env = {} } = this.#command;
    const lines = [[command, ...args], ...args.filter((one) => /\s/.test(one)).flatMap(toScriptLines)];
    const files = this.#filesIn([...lines, ...lines.flatMap(toModuleFiles)], this.#foldersIn(lines));
    for (const [name, value] of Object.entries(env))
      for (const { word, isRun } of toVariableWords(name, value))
        files.push(...this.#filesOf(word, { folders: [this.#cwd], isRun }));
    return readSources(files, (path, text) => this.#follow(path, text));
  }

  /** A command may go to any folder that its line names: `cd sub`, `-C sub`, `--directory=sub`. */
  #foldersIn(lines: readonly (readonly string[])[]): string[] {
    const words = lines.flat().flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]);
    const folders = [...new Set(words)].map((word) => resolve(this.#cwd, word));
    return [this.#cwd, ...folders.filter((folder) => isInside(folder, this.#root) && this.#look.isFolder(folder))];
  }

  /** Of these lines: of the command itself, or of a script. */
  #filesIn(lines: readonly (readonly string[])[], folders: readonly string[]): string[] {
    const exists = (word: string): boolean => this.#pathsOf(word, folders).some((path) => this.#look.isFile(path));
    const words = new Map<string, boolean>();
    for (const line of lines) {
      for (const { word, isRun } of toCommandWords(line, exists)) {
        words.set(word, isRun || words.get(word) === true);
        for (const file of IMPLIED[programOf(word)] ?? []) words.set(file, true);
      }
    }
    return [...words].flatMap(([word, isRun]) => this.#filesOf(word, { folders, isRun }));
  }

  #filesOf(word: string, { folders, isRun }: { folders: readonly string[]; isRun: boolean }): string[] {
    return this.#pathsOf(word, folders).flatMap((path) => [
      ...(isRun && this.#isBelow(path) && this.#look.isFile(path) ? [path] : []),
      ...resolveAll(path, this.#look).filter(isCode),
    ]);
  }

  #pathsOf(word: string, folders: readonly string[]): string[] {
    const isName = !word.includes('/') && !word.includes('\\');
    const places = isName ? [...folders, ...this.#programs] : folders;
    const paths = spellingsOfWord(word).flatMap((one) => places.map((folder) => resolve(folder, one)));
    const inside = (path: string): boolean => !isAbsolute(word) || isInside(path, this.#root);
    return [...new Set(paths)].filter((path) => inside(path) && this.#look.hasStem(path));
  }

  #isBelow(path: string): boolean {
    const { data = [] } = this.#command;
    return isInside(path, this.#root) && !data.some((one) => path === one || isInside(path, one));
  }

  /** A script is read as a shell or make would; other languages name files in quotes, or by modules. */
  #follow(path: string, text: string): string[] {
    const named = namedIn(path, text, this.#look).filter(isCode);
    const isSettings = SETTINGS.has(basename(path)) && /\.jsonc?$/.test(path);
    if (!isSettings && (OTHER_LANGUAGE.test(path) || text.includes('\0'))) return named;
    const moved = [...text.matchAll(/\bcd[ \t]+(['"]?)([^\s'";&|)]+)/g)].map(([, , folder]) => folder!);
    const starts = [dirname(path), dirname(realPath(path)), this.#cwd];
    const inner = starts.flatMap((start) => [...new Set(moved)].map((folder) => resolve(start, folder)));
    const folders = new Set([...starts, ...inner.filter((folder) => this.#look.isFolder(folder))]);
    const scripts = isSettings ? stringsOf(text) : [text]; // `scripts` of a package.json
    return [...named, ...this.#filesIn(scripts.flatMap(toScriptLines), [...folders])];
  }
}

/** What `python -m` runs, as lines that name it. */
function toModuleFiles(line: readonly string[]): string[][] {
  const at = line.indexOf('-m');
  const name = at === -1 ? undefined : line[at + 1];
  if (name === undefined || !/^[\w.]+$/.test(name)) return [];
  const path = `./${name.replaceAll('.', '/')}`;
  return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`].map((file) => ['python', file]);
}

/** Code by its name. Elsewhere than on a command line, a file of data that a server writes would end the trust with every run. */
const CODE = /\.(?:[cm]?[jt]sx?|node|wasm|py|sh|bash|zsh|fish|rb|pl|php|lua|jar|ps1|bat|cmd|exe)$/i;
/** Not read as a script of a shell, and nothing that make or a shell would be given as such. */
const OTHER_LANGUAGE = /\.(?:[cm]?[jt]sx?|json|node|wasm|py|rb|php|jar|exe)$/i;

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
const RUBY =
  /^[ \t]*(?:require_relative|require|load|dofile|include|include_once|require_once|use)\b[ \t(]*['"]([^'"\n]+)['"]/gm;
const PYTHON = /^[ \t]*(?:from|import)[ \t]+([\w.]+)/gm;
/** The text of a larger file is compared, and not searched for others. */
const MAX_SCRIPT = 8 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const ENDINGS = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json', '.node', '.tsx', '.jsx', '.py'];
const PACKAGE = 'package.json';
const IN_FOLDER = [PACKAGE, '__init__.py', '__main__.py', ...ENDINGS.slice(1).map((ending) => `index${ending}`)];

/** Of these files and of all that they name. */
function readSources(files: readonly string[], follow: (path: string, text: string) => readonly string[]): Sources {
  const found: Sources = new Map();
  const waiting = [...files];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    if (found.size >= MAX_STEP_FILES) throw tooMany();
    const { digest, text } = read(path);
    found.set(path, digest);
    if (text !== undefined) waiting.push(...follow(path, text));
  }
  return found;
}

function tooMany(): GatewayError {
  const reason = `they name more than ${MAX_STEP_FILES} files, which are too many to compare; bundle them, or import them as a package`;
  return new GatewayError('BAD_OPTION', { option: 'steps', reason });
}

/** Paths start at the file or, if it is a link, at the file that it leads to: loaders differ. */
function namedIn(path: string, text: string, look: FolderLook): string[] {
  const names = new Set([...text.matchAll(IMPORT), ...text.matchAll(NAMED)].map(([, , name]) => name!));
  if (basename(path) === PACKAGE) for (const name of stringsOf(text)) names.add(name);
  else for (const name of modulesOf(path, text, look)) names.add(name);
  const folders = new Set([dirname(path), dirname(realPath(path))]);
  const paths = [...names].flatMap(spellingsOf).flatMap((name) => [...folders].map((folder) => resolve(folder, name)));
  const likely = [...new Set(paths)].filter((one) => look.hasStem(one));
  return [...new Set(likely.flatMap((one) => resolveAll(one, look)))];
}

/** `#` leads to the nearest package.json; other languages have names of modules, without an ending. */
function modulesOf(path: string, text: string, look: FolderLook): string[] {
  const ofPackage = OF_PACKAGE.test(text) ? nearestPackage(dirname(path), look) : [];
  if (/\.[cm]?[jt]sx?$/i.test(path)) return ofPackage;
  const python = [...text.matchAll(PYTHON)].map(([, name]) => toModuleFile(name!));
  const named = [...text.matchAll(RUBY)].flatMap(([, name]) => [name!, name! + extname(path)]);
  return [...ofPackage, ...python, ...named];
}

function toModuleFile(name: string): string {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(name)!;
  return `${dots.length > 1 ? '../'.repeat(dots.length - 1) : './'}${rest.replaceAll('.', '/')}`;
}

function nearestPackage(folder: string, look: FolderLook): string[] {
  const file = join(folder, PACKAGE);
  if (look.isFile(file)) return read(file).text?.includes('"imports"') ? [file] : [];
  return dirname(folder) === folder ? [] : nearestPackage(dirname(folder), look);
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
function resolveAll(path: string, look: FolderLook): string[] {
  const asTypeScript = path.replace(/\.([cm]?)js$/, '.$1ts');
  const all = [
    ...ENDINGS.map((ending) => path + ending),
    ...IN_FOLDER.map((name) => resolve(path, name)),
    asTypeScript,
  ];
  return [...new Set(all)].filter((one) => look.isFile(one));
}

interface SourceFile {
  digest: string;
  /** Undefined if it is too large to be searched. */
  text?: string;
}

/** Undefined if it cannot be read. */
export function digestOfFile(path: string): string | undefined {
  const { digest } = read(path);
  return digest === UNREADABLE ? undefined : digest;
}

const UNREADABLE = 'unreadable';

/** A file that is too large to be read at once is compared all the same: programs are. */
function read(path: string): SourceFile {
  try {
    if (statSync(path).size > MAX_SCRIPT) return { digest: digestOfLargeFile(path) };
    const content = readRegularFile(path, MAX_SCRIPT);
    return { digest: sha256(content, 'hex'), text: content.toString('utf8') };
  } catch {
    return { digest: UNREADABLE };
  }
}

function digestOfLargeFile(path: string): string {
  const hash = lazyCrypto().createHash('sha256');
  const part = Buffer.allocUnsafe(CHUNK_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let count = readSync(file, part); count > 0; count = readSync(file, part))
      hash.update(part.subarray(0, count));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}
