// The settings in effect, each with where its value comes from: the key in the file, the command line, the user's own configuration, or a default. Secrets
// are hidden as `redactConfig` hides them.
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import type { ShownSetting } from '../kernel/config/shown-setting.ts';
import { formatPath } from './check/config-problems.ts';
import type { ConfigPath } from './check/config-problems.ts';
import { listServers } from './check/named-server.ts';
import type { ParleyConfig } from './config.ts';
import type { LoadedConfig } from './read/load-config.ts';
import { redactConfig } from './redact-config.ts';

export interface SettingSources {
  readonly config: ParleyConfig;
  readonly loaded: Pick<LoadedConfig, 'used' | 'ownSteps'>;
  /** The files, the first one first: further ones bring servers. `file`: as people see it. */
  readonly parts: readonly (Pick<LoadedConfig, 'read'> & { readonly file: string })[];
  /** How many of the first rules are those of the user's own configuration. */
  readonly ownRules: number;
  readonly ownFile: string;
  /** What the command line says instead, by key, such as `listen.port`. */
  readonly typed: ReadonlyMap<string, { readonly option: string; readonly value: unknown }>;
}

/** Other names of the same setting, in files of clients and short forms. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  url: ['httpUrl', 'serverUrl'],
  transport: ['type', 'httpUrl'],
  timeoutMs: ['timeout', 'tool_timeout_sec'],
  tools: ['includeTools', 'excludeTools', 'enabled_tools', 'disabledTools', 'disabled_tools'],
  auth: ['oauth', 'scopes'],
  env: ['envFile'],
  clientId: ['CLIENT_ID'],
  clientSecret: ['CLIENT_SECRET'],
};
/** What the short form of these says; that of others says all that is inside. */
const SAID_IN_SHORT: Readonly<Record<string, string>> = {
  listen: 'port',
  mcpServers: 'url',
  servers: 'url',
  mcp_servers: 'url',
};
/** Their entries are shown one by one. */
const LISTS = new Set(['steps', 'rules', 'roots']);
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?=[:}])/g;

export function showSettings(sources: SettingSources): ShownSetting[] {
  const { config, loaded } = sources;
  const shown = redactConfig(config, loaded.used);
  const whole = { ...shown, console: config.console ?? true, limits: { ...DEFAULT_LIMITS, ...shown.limits } };
  return leavesOf(whole, []).map(({ path, value }) => toSetting(path, value, sources));
}

interface Leaf {
  readonly path: ConfigPath;
  readonly value: unknown;
}

function leavesOf(value: unknown, path: ConfigPath): Leaf[] {
  const [top] = path;
  const isOpened = Array.isArray(value)
    ? path.length === 1 && LISTS.has(String(top)) && value.length > 0
    : isFilled(value);
  // A step, a rule or a root is one thing.
  if (!isOpened || typeof path.at(-1) === 'number')
    return path.length === 0 || value === undefined ? [] : [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((one, index) => leavesOf(one, [...path, index]));
  return Object.entries(value as object).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function toSetting(path: ConfigPath, value: unknown, sources: SettingSources): ShownSetting {
  const key = formatPath(path);
  const typed = sources.typed.get(key);
  const text = JSON.stringify(typed ? typed.value : value) ?? 'null';
  const variables = [...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name!))];
  if (typed) return { key, value: text, from: 'command line', place: typed.option, variables };
  return { key, value: text, ...sourceOf(path, sources), variables };
}

function sourceOf(path: ConfigPath, sources: SettingSources): Pick<ShownSetting, 'from' | 'place'> {
  const { loaded, parts, ownRules, ownFile } = sources;
  const own = path[0] === 'steps' ? loaded.ownSteps : path[0] === 'rules' ? ownRules : 0;
  const [top, index] = path;
  if (typeof index === 'number' && index < own) return { from: 'own file', place: ownFile };
  const inFile = typeof index === 'number' ? [top!, index - own, ...path.slice(2)] : path;
  for (const { read, file } of top === 'servers' ? parts : parts.slice(0, 1)) {
    const written = read && findWritten(read.input, inFile);
    if (!written) continue;
    const line = read.places.find(written)?.line;
    return { from: 'file', place: `${line === undefined ? file : `${file}:${line}`} ${formatPath(written)}` };
  }
  return { from: 'default', place: null };
}

type Input = NonNullable<LoadedConfig['read']>['input'];

/** Where the file says it; undefined if it does not. */
function findWritten(input: Input, [top, second, ...rest]: ConfigPath): ConfigPath | undefined {
  if (top !== 'servers') return descend(input, [], second === undefined ? [top!] : [top!, second, ...rest]);
  const entry = listServers(input).find(({ name }) => name === second);
  if (!entry) return undefined;
  const [block, name] = entry.path as [keyof Input, string];
  const written = (input[block] as Record<string, unknown>)[name];
  // `share` may be said for all servers.
  return (
    descend(written, entry.path, rest) ?? (rest[0] === 'share' && input.share !== undefined ? ['share'] : undefined)
  );
}

/** A short form, such as a port in place of `listen`, says what is inside of it. */
function descend(value: unknown, at: ConfigPath, [key, ...rest]: ConfigPath): ConfigPath | undefined {
  if (key === undefined) return at;
  if (typeof value !== 'object' || value === null)
    return (SAID_IN_SHORT[String(at[0])] ?? key) === key ? at : undefined;
  const name = [key, ...(ALIASES[key] ?? [])].find((one) => Object.hasOwn(value, one));
  if (name === undefined) return undefined;
  const inner = (value as Record<string | number, unknown>)[name];
  return inner === undefined ? undefined : descend(inner, [...at, name], name === key ? rest : []);
}
