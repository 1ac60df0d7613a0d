// The package that a command runs, with its version, as they are on disk or on the command line. It is for people, beside what has changed: a package
// says of itself what it likes. Nothing is run or fetched for it.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { isObject } from '../../../kernel/message.ts';
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';
import { shorten, visible } from '../../../kernel/base/visible.ts';

export interface StartedCommand {
  command: string;
  args?: string[] | undefined;
  env?: Record<string, string> | undefined;
  cwd?: string | undefined;
}

type Environment = Record<string, string | undefined>;

const SPEC = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:(?:@|==)(.+))?$/;
const EXACT = /^\d+\.\d+[\w.+-]*$/;
const MAX_BYTES = 1_000_000;

/** `some-server 1.2.3`; undefined if it is not known. */
export function installedPackage({ command, args = [], ...more }: StartedCommand): string | undefined {
  const runner = basename(command).replace(/\.(exe|cmd)$/i, '');
  const env: Environment = { ...process.env, ...more.env };
  const folder = resolve(more.cwd ?? '.');
  if (runner === 'npx') return ofNpx(args, folder, env);
  if (runner === 'uvx') return typedPackage(valuesOf(args, ['--from'])[0] ?? firstWord(args));
  const isScript = runner === 'node';
  const file = isScript ? scriptFile(args, folder) : programFile(command, folder, env);
  return file === undefined ? undefined : ownerOf(file, isScript);
}

/** npx takes what the folder has; else it installs into a folder of its cache that belongs to the words as they were typed. */
function ofNpx(args: readonly string[], folder: string, env: Environment): string | undefined {
  const named = valuesOf(args, ['-p', '--package']);
  const specs = named.length > 0 ? named : [firstWord(args) ?? ''];
  const [, name, version] = SPEC.exec(specs[0]!) ?? [];
  if (name === undefined) return undefined;
  const inFolder = version === undefined ? ancestors(folder).map((one) => join(one, 'node_modules', name)) : [];
  const hash = lazyCrypto().createHash('sha512').update(specs.toSorted().join('\n')).digest('hex').slice(0, 16);
  const found = [...inFolder, join(npmCache(env), '_npx', hash, 'node_modules', name)].map(readPackage);
  return found.find((one) => one !== undefined) ?? typedPackage(specs[0]);
}

function npmCache(env: Environment): string {
  const { npm_config_cache: set, NPM_CONFIG_CACHE: also, HOME = '', LOCALAPPDATA = '' } = env;
  return set ?? also ?? (process.platform === 'win32' ? join(LOCALAPPDATA, 'npm-cache') : join(HOME, '.npm'));
}

/** The version of the command line, if there is no doubt about it. */
function typedPackage(spec = ''): string | undefined {
  const [, name, version = ''] = SPEC.exec(spec) ?? [];
  return name !== undefined && EXACT.test(version) ? toWords(name, version) : undefined;
}

function scriptFile(args: readonly string[], folder: string): string | undefined {
  const words = args.filter((arg) => !arg.startsWith('-'));
  return words.map((word) => resolve(folder, word)).find((path) => existsSync(path));
}

function programFile(command: string, folder: string, env: Environment): string | undefined {
  if (isAbsolute(command) || /[\\/]/.test(command)) return resolve(folder, command);
  const places = (env['PATH'] ?? '').split(delimiter).map((place) => join(place, command));
  return places.find((place) => existsSync(place));
}

/** A program in a folder with a package.json belongs to it only if it was installed there, or is a script. */
function ownerOf(file: string, isScript: boolean): string | undefined {
  try {
    const path = realpathSync(file);
    if (!isScript && !/[\\/]node_modules[\\/]/.test(path)) return undefined;
    return ancestors(dirname(path))
      .map(readPackage)
      .find((one) => one !== undefined);
  } catch {
    return undefined; // it is gone, or may not be read
  }
}

function readPackage(folder: string): string | undefined {
  const path = join(folder, 'package.json');
  try {
    if (statSync(path).size > MAX_BYTES) return undefined;
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { name, version } = isObject(read) ? read : {};
    return typeof name === 'string' && typeof version === 'string' ? toWords(name, version) : undefined;
  } catch {
    return undefined; // the file is missing, or is not JSON
  }
}

function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}

function firstWord(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-'));
}

function valuesOf(args: readonly string[], options: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [option, value] = arg.split(/=(.*)/s);
    if (!options.includes(option!)) return [];
    return value ?? args[index + 1] ?? [];
  });
}

function toWords(name: string, version: string): string {
  return visible(`${shorten(name)} ${shorten(version)}`);
}
