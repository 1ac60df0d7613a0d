// Fills in `${…}` in every text of a configuration, as VS Code, Cursor, Windsurf and Claude Code do: ${env:NAME}, ${NAME},
// ${NAME:-default}, ${input:id}, ${workspaceFolder}, ${userHome} and a few more; and ${file:path} and ${cmd:command} as only Parley does.
// An unset variable is a problem. $${ is an escaped ${.
// Other text stays unchanged, as it may be meant for a shell.
import { execFileSync } from 'node:child_process';
import { basename, sep, resolve } from 'node:path';
import { MAX_SECRET_FILE_BYTES } from '../../kernel/base/limits.ts';
import { toPathId } from '../check/config-problems.ts';
import type { ConfigPath, ConfigProblems } from '../check/config-problems.ts';
import { BLOCKS, TOP_KEYS } from '../check/schema.ts';
import { readRegularFile } from './read-regular-file.ts';

/** Throws an Error that says what went wrong, without any of the content. */
type SecretSource = (text: string) => string;

export interface Variables {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  /** The project folder of the file. */
  workspace: string;
  /** The content of a file, by its path. */
  file: SecretSource;
  /** The output of a command; a text instead says why none is run here. Undefined: not now, so its value is unknown. */
  command: SecretSource | { refusal: string } | undefined;
}

interface InterpolatedConfig {
  value: Record<string, unknown>;
  /** Paths of text that came from variables. */
  filled: ReadonlySet<string>;
  /** Paths of text with unset variables, which cannot be checked further. */
  missing: ReadonlySet<string>;
  /** Values of variables and how the file refers to them, to print them without the values. */
  used: ReadonlyMap<string, string>;
  /** Text that came from variables, by path, as it may be shown: with the references in place of their values, and nothing else replaced. */
  shown: ReadonlyMap<string, string>;
}

export function interpolate(
  config: Record<string, unknown>,
  variables: Variables,
  problems: ConfigProblems,
): InterpolatedConfig {
  const filler = new Filler(variables, inputsOf(config), problems);
  const entries = Object.entries(config).map(([key, value]) => [key, isOurs(key) ? filler.walk(value, [key]) : value]);
  const { filled, missing, used, shown } = filler;
  return { value: Object.fromEntries(entries), filled, missing, used, shown };
}

/** `inputs` are what is filled in, and keys of other programs may hold anything. */
function isOurs(key: string): boolean {
  return key !== 'inputs' && TOP_KEYS.includes(key);
}

interface Input {
  default?: unknown;
  description?: unknown;
}

/** The text inside of ${…}, and where it stands. */
interface SecretReference {
  inside: string;
  rest: string;
  path: ConfigPath;
}

/** A text, and the same without what came from variables. */
interface Filled {
  value: string;
  shown: string;
}

const TIMEOUT_MS = 30_000;
/** Of references within defaults. */
const MAX_NESTING = 16;

const OWN_FILE = 'Put the server into your own configuration, or use an environment variable: ${env:NAME}.';
const NEVER_PASSED_ON = 'the token of a client is never passed on to a server';
const INSTEAD =
  'Let every user log in with "account": "user", or exchange tokens ("grant": "token_exchange"). See docs/logins.md.';

const NAME = /^(?:env:)?([A-Za-z_]\w*)(?::-([\s\S]*))?$/;

class Filler {
  readonly filled = new Set<string>();
  readonly missing = new Set<string>();
  readonly used = new Map<string, string>();
  readonly shown = new Map<string, string>();
  readonly #variables: Variables;
  readonly #inputs: Map<string, Input>;
  readonly #problems: ConfigProblems;

  constructor(variables: Variables, inputs: Map<string, Input>, problems: ConfigProblems) {
    this.#variables = variables;
    this.#inputs = inputs;
    this.#problems = problems;
  }

  walk(value: unknown, path: ConfigPath): unknown {
    if (typeof value === 'string') return this.#fillAt(value, path);
    if (Array.isArray(value)) return value.map((item, index) => this.walk(item, [...path, index]));
    if (typeof value !== 'object' || value === null || isOff(value, path)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.walk(inner, [...path, key])]));
  }

  #fillAt(text: string, path: ConfigPath): string {
    if (!text.includes('${')) return text;
    const { value, shown } = this.#fill(text, path, 0);
    if (shown !== value) this.shown.set(toPathId(path), shown);
    return value;
  }

  #fill(text: string, path: ConfigPath, depth: number): Filled {
    const filled: Filled = { value: '', shown: '' };
    const add = (value: string, shown = value): void => {
      filled.value += value;
      filled.shown += shown;
    };
    if (depth > MAX_NESTING) {
      this.#miss(path, 'the defaults of variables are nested too deeply', 'Name one variable, with a plain default.');
      return filled;
    }
    let at = 0;
    while (at < text.length) {
      const start = text.indexOf('${', at);
      const end = start === -1 ? -1 : closing(text, start + 2);
      if (end === -1) break;
      const isEscaped = text[start - 1] === '$' && start > at;
      const written = text.slice(start, end + 1);
      const found = isEscaped ? undefined : this.#resolve(text.slice(start + 2, end), path, depth);
      if (found !== undefined && found.value !== written) this.filled.add(toPathId(path));
      add(text.slice(at, isEscaped ? start - 1 : start));
      add(found?.value ?? written, found?.shown);
      at = end + 1;
    }
    add(text.slice(at));
    return filled;
  }

  /** Undefined for other text, and for an unset variable. */
  #resolve(inside: string, path: ConfigPath, depth: number): Filled | undefined {
    const known = this.#predefined(inside);
    if (known !== undefined) return { value: known, shown: known };
    if (inside.startsWith('input:')) return this.#input(inside.slice('input:'.length), path);
    const [, kind, rest = ''] = /^(file|cmd|client|caller):([\s\S]*)$/.exec(inside) ?? [];
    if (kind === 'file') return this.#secret(this.#variables.file, { inside, rest, path });
    if (kind === 'cmd') return this.#command({ inside, rest, path });
    if (kind !== undefined) return this.#miss(path, NEVER_PASSED_ON, INSTEAD);
    if (/^(?:command|config):/.test(inside)) {
      return this.#miss(path, `\${${inside}} is known to VS Code alone`, 'Use an environment variable: ${env:NAME}.');
    }
    const [, name, fallback] = NAME.exec(inside) ?? [];
    return name === undefined ? undefined : this.#variable({ name, fallback }, path, depth);
  }

  #command(wanted: SecretReference): Filled | undefined {
    const { command } = this.#variables;
    if (typeof command === 'function') return this.#secret(command, wanted);
    if (command) return this.#miss(wanted.path, command.refusal, OWN_FILE);
    this.missing.add(toPathId(wanted.path)); // it cannot be checked
    return undefined;
  }

  #secret(source: SecretSource, { inside, rest, path }: SecretReference): Filled | undefined {
    try {
      return this.#remember(source(rest), inside);
    } catch (thrown) {
      return this.#miss(path, (thrown as Error).message, 'Correct it, or use an environment variable: ${env:NAME}.');
    }
  }

  #variable(
    { name, fallback }: { name: string; fallback: string | undefined },
    path: ConfigPath,
    depth: number,
  ): Filled | undefined {
    const value = this.#variables.env[name];
    if (value !== undefined) return this.#remember(value, name);
    if (fallback !== undefined) return this.#fill(fallback, path, depth + 1);
    const hint = `Set it where Parley is started, or give a default: \${${name}:-…}.`;
    return this.#miss(path, `the environment variable ${name} is not set`, hint);
  }

  #input(id: string, path: ConfigPath): Filled | undefined {
    const input = this.#inputs.get(id);
    const name = inputVariable(id);
    const value = this.#variables.env[name];
    if (value !== undefined) return this.#remember(value, `input:${id}`);
    if (typeof input?.default === 'string') return { value: input.default, shown: input.default };
    const wanted = typeof input?.description === 'string' ? ` (${input.description})` : '';
    const hint = `Parley does not ask: give it in the environment variable ${name}${wanted}.`;
    return this.#miss(path, `the input "${id}" has no value`, hint);
  }

  #miss(path: ConfigPath, message: string, hint: string): undefined {
    this.missing.add(toPathId(path));
    this.#problems.error(path, message, hint);
  }

  #predefined(name: string): string | undefined {
    const { workspace, home, cwd } = this.#variables;
    if (name === 'workspaceFolder') return workspace;
    if (name === 'workspaceFolderBasename') return basename(workspace);
    if (name === 'userHome') return home;
    if (name === 'cwd') return cwd;
    return name === '/' || name === 'pathSeparator' ? sep : undefined;
  }

  #remember(value: string, name: string): Filled {
    const shown = `\${${name}}`;
    this.used.set(value, shown);
    return { value, shown };
  }
}

/** The closing brace, with nested ${…} counted. */
function closing(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('${', at)) open += 1;
    else if (text[at] === '}' && --open === 0) return at;
  }
  return -1;
}

/** The variable that gives Parley a value for which VS Code would ask. */
function inputVariable(id: string): string {
  return `PARLEY_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
}

/** A disabled server needs no variables. */
function isOff(value: object, path: ConfigPath): boolean {
  const isServer = path.length === 2 && BLOCKS.some((block) => block === path[0]);
  return isServer && (value as { disabled?: unknown }).disabled === true;
}

function inputsOf({ inputs }: Record<string, unknown>): Map<string, Input> {
  const found = new Map<string, Input>();
  for (const input of Array.isArray(inputs) ? (inputs as unknown[]) : []) {
    const id = (input as { id?: unknown } | null)?.id;
    if (typeof id === 'string') found.set(id, input as Input);
  }
  return found;
}

interface SecretFilePlace {
  folder: string;
  home: string;
  /** Receives what was read: it is part of what is trusted. */
  keep: (path: string, text: string) => void;
}

/** `~/` is the home folder; other paths are relative to the file. */
export function readSecretFile(written: string, { folder, home, keep }: SecretFilePlace): string {
  const path = written.startsWith('~/') ? resolve(home, written.slice(2)) : resolve(folder, written);
  const content = attempt(() => readRegularFile(path, MAX_SECRET_FILE_BYTES), `the file ${written} cannot be read`);
  const text = content.toString('utf8');
  keep(path, text);
  return withoutNewline(text);
}

/**
 * Its output without the last line break. What it writes to stderr is shown to the user. A command is started without a shell, and only for the
 * user's own file: the author of a project's file must not be able to run programs by it being read.
 */
export function runSecretCommand(written: string, env: Readonly<Record<string, string | undefined>>): string {
  const [command, ...args] = toWords(written);
  if (command === undefined) throw new Error('${cmd:…} names no command');
  const options = { env: { ...env }, encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: MAX_SECRET_FILE_BYTES } as const;
  const run = () =>
    execFileSync(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'], windowsHide: true });
  const value = withoutNewline(attempt(run, `the command ${command} failed`));
  if (value === '') throw new Error(`the command ${command} printed nothing`);
  return value;
}

/** Words are separated by spaces; quotes keep them together. */
export function toWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double, single) => String(double ?? single)));
}

function attempt<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch (thrown) {
    const { code, status, signal } = thrown as { code?: string; status?: number | null; signal?: string | null };
    const why = code ?? (typeof status === 'number' ? `exit code ${status}` : (signal ?? 'unknown'));
    throw new Error(`${problem} (${why})`, { cause: thrown });
  }
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '');
}
