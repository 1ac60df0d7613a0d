// The code that commands of a configuration would start from its folder, found without running it: `node server.js`, `sh ./run.sh`, `npm start`.
// Only code counts. A file of data, which a server may write itself, would end the trust with every run.
import { statSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, resolve, sep } from 'node:path';
import { enabledServers } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { dictionary } from '../../shared/containers/dictionary.ts';
import { readSources, resolveAll } from './step-sources.ts';

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

type Sources = Map<string, Buffer | undefined>;

/** The content of each file by path. Throws if there are too many. */
export function readCommandSources({ config, path = '' }: LoadedConfig): Sources {
  const commands = (config ? enabledServers(config) : []).flatMap(([, server]) =>
    'command' in server ? [server] : [],
  );
  return toSources(commands.flatMap((one) => filesOf(one, dirname(path))));
}

/** The same of one command, of a configuration in this folder. */
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
  const words = [command, ...args, ...Object.values(env)].flatMap(wordsOf);
  const named = words.filter((word) => !isAbsolute(word) || isInside(word, root));
  const implied = IMPLIED[basename(command)] ?? [];
  return [...named, ...implied].flatMap((word) => resolveAll(resolve(cwd, word)));
}

function toSources(files: readonly string[]): Sources {
  return readSources([...new Set(files)].filter(isCode), isCode);
}

/** A script may be part of a longer text: `--import=./hook.mjs`, `sh -c "node x.js"`. */
function wordsOf(text: string): string[] {
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

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
