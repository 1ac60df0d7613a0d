// Servers that clients keep elsewhere than in "mcpServers": Zed ("context_servers"), OpenCode ("mcp"), Goose ("extensions"), Amp
// ("amp.mcpServers") and Continue (a list). Each becomes an entry as others write it. Keys that are not known stay, so that the checks report them.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ConfigPath, ConfigProblems, SourcePositions } from '../check/config-problems.ts';

interface ForeignContext {
  places: SourcePositions;
  problems: ConfigProblems;
}

type Convert = (entry: JsonObject) => JsonObject | undefined;

/**
 * The same servers under "mcpServers", without the settings of the other program: some have the names of keys of ours. A file with steps is ours, and its
 * rules must not be dropped for a key that it has by mistake.
 */
export function fromForeignBlocks(config: Record<string, unknown>, context: ForeignContext): Record<string, unknown> {
  if (config['steps'] !== undefined) return config;
  const list = fromList(config, context);
  if (list) return list;
  for (const [key, isBlock, convert] of config['rules'] === undefined ? FOREIGN : []) {
    const block = config[key];
    if (isObject(block) && isBlock(block)) return withBlock(config, { key, block, convert }, context);
  }
  return withAllowList(config, context);
}

const isAny = (block: JsonObject): boolean => Object.values(block).every(isObject);

const FOREIGN: [key: string, isBlock: (block: JsonObject) => boolean, convert: Convert][] = [
  ['context_servers', isAny, fromZed],
  ['mcp', isOpenCode, fromOpenCode],
  ['extensions', isGoose, fromGoose],
  ['amp.mcpServers', isAny, (entry) => entry],
];

interface Block {
  key: string;
  block: JsonObject;
  convert: Convert;
}

function withBlock(
  config: Record<string, unknown>,
  { key, block, convert }: Block,
  { places }: ForeignContext,
): Record<string, unknown> {
  places.copy([key], ['mcpServers']);
  const servers = Object.entries(block).flatMap(([name, entry]) => {
    const server = isObject(entry) ? convert(entry) : undefined;
    return server ? [[name, server] as const] : [];
  });
  const { mcpServers: present } = config;
  return { mcpServers: { ...(isObject(present) ? present : {}), ...Object.fromEntries(servers) } };
}

/** Zed: an entry with only "settings" is of an extension, which starts it itself. */
function fromZed({ source: _, settings: _settings, ...entry }: JsonObject): JsonObject | undefined {
  const { command } = entry;
  if (isObject(command)) {
    const { path, args, env } = command; // as older versions wrote it
    return withDefined({ ...entry, command: path, args, env });
  }
  return command === undefined && entry['url'] === undefined ? undefined : entry;
}

function isOpenCode(block: JsonObject): boolean {
  const entries = Object.values(block);
  return entries.length > 0 && entries.every((one) => isObject(one) && /^(?:local|remote)$/.test(String(one['type'])));
}

/** OpenCode: the command and its arguments are one list, and variables are `{env:NAME}`. */
function fromOpenCode({ type, command, environment, timeout: _ofLists, ...entry }: JsonObject): JsonObject {
  const [program, ...args] = Array.isArray(command) ? (command as unknown[]) : [command];
  const isLocal = type === 'local';
  const server = withDefined({ ...entry, ...(isLocal && { command: program, args, env: environment }) });
  return filledAs(server, /\{(env|file):([^{}]+)\}/g, (_, kind, name) => `\${${kind}:${name}}`) as JsonObject;
}

const GOOSE_TYPES = /^(?:stdio|sse|streamable_http|builtin|platform|frontend|inline_python)$/;

function isGoose(block: JsonObject): boolean {
  const entries = Object.values(block);
  return entries.length > 0 && entries.every((one) => isObject(one) && GOOSE_TYPES.test(String(one['type'])));
}

const OF_GOOSE = new Set(['name', 'display_name', 'bundled', 'available_tools', 'env_keys', 'description', 'timeout']);

/** What Goose writes unless the user says otherwise. */
const GOOSE_SECONDS = 300;

/** Goose: its built-in extensions are not servers. Values of `env_keys` are in its keychain: a variable of this name can stand for it. */
function fromGoose(entry: JsonObject): JsonObject | undefined {
  const { type, cmd, envs, env, uri, env_keys: keys, available_tools: tools, timeout, ...rest } = entry;
  if (!/^(?:stdio|sse|streamable_http)$/.test(String(type))) return undefined;
  const known = Object.fromEntries(Object.entries(rest).filter(([key]) => !OF_GOOSE.has(key)));
  const own = envs ?? env;
  const names = (Array.isArray(keys) ? (keys as unknown[]) : []).filter((one) => typeof one === 'string');
  const variables = {
    ...Object.fromEntries(names.map((name) => [name, `\${${name}}`])),
    ...(isObject(own) ? own : {}),
  };
  const allow = Array.isArray(tools) && tools.length > 0 ? tools : undefined;
  return withDefined({
    ...known,
    ...(type === 'stdio' ? { command: cmd, env: variables } : { url: uri, type: type === 'sse' ? 'sse' : 'http' }),
    includeTools: allow,
    timeoutMs: typeof timeout === 'number' && timeout > 0 && timeout !== GOOSE_SECONDS ? timeout * 1000 : undefined,
  });
}

/** Continue: every file of it has a name. */
function fromList(config: Record<string, unknown>, { places }: ForeignContext): Record<string, unknown> | undefined {
  const { mcpServers: list, name: title } = config;
  if (!Array.isArray(list) || typeof title !== 'string') return undefined;
  if (!list.every((one) => isObject(one) && typeof one['name'] === 'string')) return undefined;
  const servers = (list as JsonObject[]).map((entry, index) => {
    const {
      name,
      faviconUrl: _,
      sourceFile: _file,
      requestOptions,
      connectionTimeout: _ms,
      apiKey: _key,
      ...rest
    } = entry;
    places.copy(['mcpServers', index], ['mcpServers', String(name)] satisfies ConfigPath);
    const { headers } = isObject(requestOptions) ? requestOptions : {};
    const server = withDefined({ ...rest, headers: rest['headers'] ?? headers });
    return [
      String(name),
      filledAs(server, /\$\{\{\s*(?:secrets\.)?(\w+)\s*\}\}/g, (_, name) => `\${${name}}`),
    ] as const;
  });
  return { mcpServers: Object.fromEntries(servers) };
}

/** Gemini CLI starts only the servers that "allowed" names, and none that "excluded" names. */
function withAllowList(config: Record<string, unknown>, { problems }: ForeignContext): Record<string, unknown> {
  const { mcp, mcpServers: servers } = config;
  if (!isObject(mcp) || !isObject(servers)) return config;
  const { allowed, excluded } = mcp;
  if (!isNames(allowed) && !isNames(excluded)) return config;
  const isOff = (name: string): boolean =>
    (isNames(allowed) && !allowed.includes(name)) || (isNames(excluded) && excluded.includes(name));
  const off = Object.keys(servers).filter(isOff);
  const hint = 'Gemini CLI does not start them, either: "allowed" and "excluded" of "mcp" say so.';
  if (off.length > 0) problems.note(['mcp'], `these servers are switched off: ${off.join(', ')}`, hint);
  const entries = Object.entries(servers).map(([name, entry]) =>
    isOff(name) && isObject(entry) ? [name, { ...entry, disabled: true }] : [name, entry],
  );
  const { mcp: _, ...rest } = config;
  return { ...rest, mcpServers: Object.fromEntries(entries) };
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function withDefined(entry: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

/** Every text, with variables as Parley reads them. */
function filledAs(value: unknown, pattern: RegExp, to: (whole: string, ...parts: string[]) => string): unknown {
  if (typeof value === 'string') return value.replaceAll(pattern, to);
  if (Array.isArray(value)) return value.map((one) => filledAs(one, pattern, to));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filledAs(one, pattern, to)]));
}
