// Loads a configuration: find, read, parse, fill in variables, validate, normalize. Never throws for the content of the file, but returns a
// list of problems. Reads only the environment that it is given.
import { basename, dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { MAX_CONFIG_FILE_BYTES } from '../../kernel/base/limits.ts';
import { userFolder } from '../../kernel/secrets/own-folders.ts';
import { narrowTrust } from '../apply/narrow-trust.ts';
import { checkOnDisk } from '../check/check-on-disk.ts';
import { ConfigProblems } from '../check/config-problems.ts';
import type { SourcePositions, ConfigProblem } from '../check/config-problems.ts';
import { BLOCKS, TOP_KEYS } from '../check/schema.ts';
import type { ConfigInput } from '../check/schema.ts';
import { validateConfig } from '../check/validate-config.ts';
import { listServers } from '../check/named-server.ts';
import { enabledServers, isForFlowsOnly } from '../config.ts';
import type { AskConfig, ParleyConfig } from '../config.ts';
import { normalizeConfig } from '../normalize-config.ts';
import { problemsWithReferences, registerConfigSecrets } from '../redact-config.ts';
import { normalizeClientFormats } from './client-formats.ts';
import { folderOfProject } from './client-places.ts';
import { findConfig } from './find-config.ts';
import type { Environment } from './find-config.ts';
import { interpolate, readSecretFile, runSecretCommand } from './interpolate.ts';
import type { Variables } from './interpolate.ts';
import { omitBrokenServers, omitOwnEntries } from './omit-servers.ts';
import type { OwnAddress } from './omit-servers.ts';
import { parseConfig } from './parse-config.ts';
import { readBounded, readRegularFile } from './read-regular-file.ts';

export interface LoadOptions extends Environment {
  /** For tests. */
  read?: ((path: string) => string) | undefined;
  /** Run the commands that the user's own file names for its values. Default: they are left unknown. */
  runsCommands?: boolean | undefined;
  /** How clients share processes, unless the entry of a server says it; wins over the file. */
  share?: ConfigInput['share'];
  /** Steps of the user's own configuration, outside of those of the file. */
  ownSteps?: ParleyConfig['steps'] | undefined;
  /** Rules of the user's own configuration, before those of the file. */
  ownRules?: ParleyConfig['rules'] | undefined;
  /** `ask.trust` of the user's own configuration, which the file can only narrow while such steps and rules apply. */
  ownTrust?: AskConfig['trust'] | undefined;
  /** For a gateway that serves the file: its own address, given that of the file. */
  own?: ((listen: { host: string; port: number | undefined }) => OwnAddress) | undefined;
  /** One of several files, any of which may bring the servers. */
  isPart?: boolean | undefined;
}

export interface LoadedConfig {
  path: string | undefined;
  /** Undefined if there is an error. */
  config: ParleyConfig | undefined;
  problems: ConfigProblem[];
  /** Values from the environment and how the file refers to them; `printConfig` needs them. */
  used: ReadonlyMap<string, string>;
  /** Texts of the file that hold such values, by their path, with references in place of the values. */
  shown: ReadonlyMap<string, string>;
  /** The files that it was loaded from; steps watch their own. */
  files: string[];
  /** The content of a readable file, so that `check` can look further in spite of errors. */
  read?: { input: ConfigInput; places: SourcePositions; missing: ReadonlySet<string> } | undefined;
  /** How many servers were left out that the file does not disable. */
  leftOut: number;
  /** What was read, by path: the file itself, its env files, and files of `${file:…}`. */
  texts: ReadonlyMap<string, string>;
  /** How many of the first steps are `ownSteps`. */
  ownSteps: number;
  /** The files that it was put together from, if there are several. */
  parts?: LoadedConfig[] | undefined;
}

const EXAMPLE = 'Name one, or write parley.config.jsonc: { "mcpServers": { … } }.';

const ONLY_FLOWS = 'this file names no server, only where `parley flows` finds sessions';
const TO_SERVE_FLOWS =
  'To serve flows, start a program that serves them (docs/flows.md has one), and add its URL: "mcpServers": { "trips": "http://127.0.0.1:8080/mcp" }.';

export const NO_SERVER: ConfigProblem = {
  level: 'warning',
  path: '',
  line: undefined,
  column: undefined,
  message: 'there is no server to serve',
  hint: 'Clients will see an empty gateway. Add one, or switch one on.',
};

const NOTHING = {
  config: undefined,
  used: new Map<string, string>(),
  shown: new Map<string, string>(),
  leftOut: 0,
  ownSteps: 0,
};

const OF_CLIENTS = new Set<string>(['$schema', 'inputs', ...BLOCKS]);
/** Keys that no client knows. */
export const OWN_KEYS: ReadonlySet<string> = new Set(TOP_KEYS.filter((key) => !OF_CLIENTS.has(key)));

export function loadConfig(named: string | undefined, options: LoadOptions): LoadedConfig {
  const { path, searched } = findConfig(named, options);
  if (path === undefined) {
    return failed(named, named === undefined ? 'no configuration was found' : `${searched[0]} is not there`, searched);
  }
  const { read = readText } = options;
  let text: string;
  try {
    text = read(path);
  } catch (thrown) {
    return failed(path, `cannot be read: ${(thrown as NodeJS.ErrnoException).code ?? 'unknown'}`, [path]);
  }
  return readConfig({ path, text }, options);
}

/** The same for text that has been read already. */
export function readConfig({ path, text }: { path: string; text: string }, options: LoadOptions): LoadedConfig {
  const { env, cwd, home, ownSteps = [] } = options;
  const { texts, read } = remembering({ path, text }, options.read ?? readNamed);
  const { value: written, places, problems } = parseConfig(text.replace(/^\uFEFF/, ''), path);
  if (written === undefined) return { ...NOTHING, path, problems: problems.sorted(), files: [path], texts };
  const value = normalizeClientFormats(written, { cwd, env, places, problems, isOwn: isOwnFile(path) });
  const folder = dirname(path);
  const project = folderOfProject(path, options);
  const workspace = project ?? cwd;
  const {
    value: filledIn,
    filled,
    missing,
    used,
    shown,
  } = interpolate(value, { env, cwd, home, workspace, ...secretsOf({ path, texts }, options) }, problems);
  const unknownKeys = isOwnFile(path) || isForParley(filledIn) ? 'error' : 'warning';
  const input = validateConfig(filledIn, { problems, filled, missing, unknownKeys });
  const envFiles = readEnvFiles(input, { folder, read, problems });
  const leftOut = isOwnFile(path) ? [] : omitBrokenServers(filledIn, input, problems);
  leftOut.push(
    ...omitOwnEntries(input, { path, problems, environment: { ...options, cwd: workspace }, own: options.own }),
  );
  if (options.read === undefined) checkOnDisk(input, { path, cwd: workspace, env, problems, filled, missing });
  const shared = options.share ? { ...input, share: options.share } : input;
  const config = problems.hasErrors ? undefined : withOwn(normalizeConfig(shared, folder, project), options);
  registerConfigSecrets(config, used);
  if (config && !options.isPart) warnIfEmpty(config, problems);
  return {
    path,
    config,
    problems: problemsWithReferences(problems.sorted(), used),
    used,
    shown,
    files: [path, ...envFiles],
    leftOut: leftOut.length,
    texts,
    ownSteps: ownSteps.length,
    read: { input, places, missing },
  };
}

function warnIfEmpty(config: ParleyConfig, problems: ConfigProblems): void {
  if (isForFlowsOnly(config)) problems.warn([], ONLY_FLOWS, TO_SERVE_FLOWS);
  else if (enabledServers(config).length === 0) problems.warn([], NO_SERVER.message, NO_SERVER.hint);
}

/** Keeps what is read. */
function remembering({ path, text }: { path: string; text: string }, read: (path: string) => string) {
  const texts = new Map([[path, text]]);
  return {
    texts,
    read: (file: string): string => {
      const content = read(file);
      texts.set(file, content);
      return content;
    },
  };
}

function withOwn(config: ParleyConfig, { ownSteps = [], ownRules = [], ownTrust }: LoadOptions): ParleyConfig {
  if (ownSteps.length + ownRules.length === 0) return config;
  const ask = narrowTrust(config, ownTrust);
  return Object.freeze({
    ...config,
    ...(ask && { ask }),
    ...(ownSteps.length > 0 && { steps: [...ownSteps, ...config.steps] }),
    ...(ownRules.length > 0 && { rules: [...ownRules, ...(config.rules ?? [])] }),
  });
}

/** Unknown keys in other files belong to other programs. */
function isOwnFile(path: string): boolean {
  return basename(path).startsWith('parley.');
}

/** Whatever the file is called: it has a key that no client knows. */
function isForParley(value: Record<string, unknown>): boolean {
  return Object.keys(value).some((key) => OWN_KEYS.has(key));
}

/** Commands are for the user's own file. */
function secretsOf(
  { path, texts }: { path: string; texts: Map<string, string> },
  options: LoadOptions,
): Pick<Variables, 'file' | 'command'> {
  const { env, home, runsCommands = false } = options;
  const folder = dirname(path);
  const own = userFolder(options);
  const refusal = `\${cmd:…} is allowed in ${own} only`;
  const run = (text: string): string => runSecretCommand(text, env);
  return {
    file: (written) => readSecretFile(written, { folder, home, keep: (file, text) => texts.set(file, text) }),
    command: folder !== own ? { refusal } : runsCommands ? run : undefined,
  };
}

function failed(path: string | undefined, message: string, searched: string[]): LoadedConfig {
  const problems = new ConfigProblems();
  const hint = path === undefined ? `${EXAMPLE} Looked for: ${searched.join(', ')}.` : 'Check the path.';
  problems.error([], message, hint);
  return { ...NOTHING, path, problems: problems.list, files: [], texts: new Map() };
}

function readText(path: string): string {
  return readBounded(path, MAX_CONFIG_FILE_BYTES).toString('utf8');
}

/** A file that the configuration names. */
function readNamed(path: string): string {
  return readRegularFile(path, MAX_CONFIG_FILE_BYTES).toString('utf8');
}

/** Reads `envFile` (VS Code and Cursor) of each server into its `env`, which wins; returns their paths. `read` throws if it cannot read a file. */
function readEnvFiles(
  config: ConfigInput,
  { folder, read, problems }: { folder: string; read: (path: string) => string; problems: ConfigProblems },
): string[] {
  return listServers(config).flatMap(({ path, server }) => {
    if (server.envFile === undefined || server.command === undefined || server.disabled) return [];
    const file = resolve(folder, server.envFile);
    try {
      server.env = { ...(parseEnv(read(file)) as Record<string, string>), ...server.env };
    } catch {
      problems.error(
        [...path, 'envFile'],
        `cannot read ${file}`,
        'Check the path; it starts at the folder of this file.',
      );
    }
    return [file];
  });
}
