// What can be typed for the commands that connect to a gateway or a server: `ls`, `call`, `read`, `prompt`, `status`.
import { existsSync } from 'node:fs';
import type { LogLevel } from '../../config/settings.ts';
import type { CommandAddress } from '../../mcp/connect/address.ts';
import { isObject } from '../../kernel/message.ts';
import { programName } from '../program.ts';
import { defineCommand, hintAt } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand, TypedCommand, ValuesOf } from '../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option } from '../../kernel/command/option.ts';
import { isServerUrl } from '../../mcp/connect/url-links.ts';
import { SHARED, fillIn, toUrl } from './shared-options.ts';

const { checked, count, flag, pairs, seconds, text } = option;
export const LS_KINDS = ['tools', 'resources', 'prompts', 'servers'] as const;

export type LsKind = (typeof LS_KINDS)[number];
export type LsCommand = ParsedCommand<typeof LS>;
export type CallCommand = ParsedCommand<typeof CALL>;
export type ToolsCommand = ParsedCommand<typeof TOOLS>;
export type ReadCommand = ParsedCommand<typeof READ>;
export type PromptCommand = ParsedCommand<typeof PROMPT>;
export type StatusCommand = ParsedCommand<typeof STATUS>;

/** What to connect to. Default: the gateway that runs here. */
export interface TargetOptions {
  url: string | undefined;
  headers: Record<string, string>;
  config: string | undefined;
  /** The process id of the gateway. */
  pid: number | undefined;
  /** A server to start for this command only. */
  server: CommandAddress | undefined;
  /** How long to wait for each answer. Undefined: the default of the client. */
  timeoutMs: number | undefined;
  log: LogLevel | undefined;
}

const { json } = COMMON;
const { log } = SHARED;
const reach = {
  url: checked('URL', 'the gateway or server to connect to; a bare URL works, too', toUrl),
  header: SHARED.header,
  config: text('FILE', 'start the servers of this file, for this command only'),
  pid: COMMON.pid,
  timeout: seconds(
    'seconds to wait for an answer (default 60), and for servers to start (default 30, or "startMs" of the file)',
  ),
};
const WHOM = [
  'Connects to the URL, the servers of --config or the COMMAND, else to the gateway that runs here. If none runs, starts the',
  'servers of the configuration for this command only.',
];
const ARG_FORM = '--arg name=value';

export const LS = defineCommand({
  name: 'ls',
  summary: 'list tools, resources, prompts and servers',
  usage: [`[${LS_KINDS.join('|')}] [URL|CONFIG] [options]`, `[${LS_KINDS.join('|')}] [options] -- COMMAND [ARGS…]`],
  about: WHOM,
  options: { ...reach, json, log },
  words: { choices: LS_KINDS, file: true },
  takesServer: true,
  examples: {
    'parley ls': 'everything the running gateway offers',
    'parley ls tools https://example.com/mcp': 'the tools of a server',
    'parley ls tools -- npx -y some-server': 'the tools of a command',
  },
  read({ options, words, server }) {
    const isKind = (word: string): word is LsKind => LS_KINDS.some((kind) => kind === word);
    const [what, ...more] = words.filter(isKind);
    if (more.length > 0) throw new UsageError(`Ask for one of ${LS_KINDS.join(', ')}, or for none to see all.`);
    const others = words.filter((word) => !isKind(word));
    return { what, json: options.json, ...toTarget({ options, words: others, server }, LS_KINDS) };
  },
});

const MAX_PROPOSALS = 1000;

export const TOOLS = defineCommand({
  name: 'tools',
  summary: 'show what tools cost in tokens, who uses them, and what would cost less',
  usage: ['[SERVER] [URL|CONFIG] [options]', '--apply N [--yes]'],
  about: [
    ...WHOM,
    'Tokens are an estimate: a quarter of the bytes of the name, the description and the input schema. Calls are those that the audit',
    'log of this user has of the last 30 days.',
  ],
  options: {
    apply: count('write this proposal into the configuration, after showing the change', MAX_PROPOSALS),
    yes: flag('with --apply: do not ask', 'y'),
    ...reach,
    json,
    log,
  },
  words: { file: true },
  examples: {
    'parley tools': 'what the tools of each server cost',
    'parley tools github': 'each tool of one server, the dearest first',
    'parley tools --apply 1': 'the first proposal',
  },
  read({ options, words }) {
    const isPlace = (word: string): boolean => isServerUrl(word) || /[./\\~]/.test(word) || existsSync(word);
    const [of, ...more] = words.filter((word) => !isPlace(word));
    if (more.length > 0) throw new UsageError(`"tools" takes one server; "${more.join(' ')}" was not expected.`);
    const target = toTarget({ options, words: words.filter(isPlace), server: undefined });
    return { of, apply: options.apply, isSure: options.yes, json: options.json, ...target };
  },
});

export const CALL = defineCommand({
  name: 'call',
  summary: 'call one tool, and answer its questions on the terminal',
  usage: ['TOOL [--arg K=V …] [JSON] [options]', 'TOOL [--arg K=V …] [JSON] [options] -- COMMAND [ARGS…]'],
  about: WHOM,
  options: {
    arg: pairs('an argument, may be repeated; the schema of the tool gives it its type', ARG_FORM),
    yes: flag('answer the questions of the tool with yes and its defaults', 'y'),
    json: { ...json, text: 'print the whole result as JSON' },
    ...reach,
    log,
  },
  words: { names: 'tools' },
  takesServer: true,
  helpsWithWord: true,
  examples: {
    'parley call weather --arg city=Oslo': 'through the running gateway',
    'parley call weather --help': 'what the tool does, and its arguments',
    [`parley call add '{"a": 2, "b": 40}' --json`]: 'arguments and result as JSON',
    'parley call echo --arg message=hi -- npx -y some-server': 'a tool of a command',
  },
  read({ options, words: [tool, ...words], server, asksHelp }) {
    if (tool === undefined) throw new UsageError(`Name the tool to call. To see them: ${programName()} ls tools`);
    const [body, ...rest] = words.filter((word) => !isServerUrl(word));
    if (rest.length > 0)
      throw new UsageError(`"call" takes a tool and one JSON object; "${rest.join(' ')}" was not expected.`);
    const target = toTarget({ options, words: words.filter(isServerUrl), server });
    const { arg: args, yes, json: isJson } = options;
    return { tool, args, body: toBody(body), yes, json: isJson, asksHelp, ...target };
  },
});

export const READ = defineCommand({
  name: 'read',
  summary: 'print one resource',
  usage: ['URI [options]', 'URI [options] -- COMMAND [ARGS…]'],
  about: WHOM,
  options: { ...reach, json, log },
  takesServer: true,
  examples: { 'parley read demo://about': 'through the running gateway' },
  read({ options, words: [uri, ...words], server }) {
    if (uri === undefined)
      throw new UsageError(`Name the resource to read. To see them: ${programName()} ls resources`);
    return { uri, json: options.json, ...toTarget({ options, words, server }) };
  },
});

export const PROMPT = defineCommand({
  name: 'prompt',
  summary: 'print one prompt, filled in',
  usage: ['NAME [--arg K=V …] [options]', 'NAME [--arg K=V …] [options] -- COMMAND [ARGS…]'],
  about: WHOM,
  options: { arg: pairs('an argument; may be repeated', ARG_FORM), ...reach, json, log },
  takesServer: true,
  examples: { 'parley prompt plan_evening --arg city=Oslo': 'through the running gateway' },
  read({ options, words: [prompt, ...words], server }) {
    if (prompt === undefined) throw new UsageError(`Name the prompt. To see them: ${programName()} ls prompts`);
    return { prompt, args: options.arg, json: options.json, ...toTarget({ options, words, server }) };
  },
});

export const STATUS = defineCommand({
  name: 'status',
  summary: 'show the state of each server of the running gateway, and why one fails',
  usage: ['[URL|CONFIG] [options]', '[options] -- COMMAND [ARGS…]'],
  about: [
    'Asks the gateway that runs here, or the one at the URL, and starts nothing. With a CONFIG or COMMAND, starts its servers',
    'once, without a gateway, to see their state.',
  ],
  options: {
    ...reach,
    json,
    lines: flag('print the lines to paste into clients, with the token, and nothing else'),
    log,
  },
  words: { file: true },
  takesServer: true,
  examples: {
    'parley status --lines': 'what to paste into a client',
    'parley status --json': 'for a script',
    'parley status ~/.cursor/mcp.json': 'whether the servers of a file start, and why one does not',
  },
  read({ options, words, server }) {
    return { json: options.json, lines: options.lines, ...toTarget({ options, words, server }) };
  },
});

interface TypedTarget extends Pick<TypedCommand, 'words' | 'server'> {
  options: ValuesOf<typeof reach & { log: typeof log }>;
}

/** A URL or file as a word, an option, or a command after `--`. At most one of them. `known`: other words that the command has. */
function toTarget({ options, words, server: typed }: TypedTarget, known: readonly string[] = []): TargetOptions {
  const { header, pid, timeout: timeoutMs, log } = options;
  const [word, ...rest] = words;
  if (rest.length > 0) throw new UsageError(`Unexpected words "${rest.join(' ')}": give one URL or file.`);
  const url = options.url ?? (word !== undefined && isServerUrl(word) ? toUrl(word) : undefined);
  const config = options.config ?? (word !== undefined && !isServerUrl(word) ? word : undefined);
  const [command, ...args] = typed ?? [];
  if (typed && command === undefined) throw new UsageError('Give the command to start after "--".');
  const server = command === undefined ? undefined : { command, args };
  if ([url, config, server, word !== undefined && options.url].filter(Boolean).length > 1) {
    throw new UsageError('Give a URL, a configuration, or a command after "--": one of them.');
  }
  if (config !== undefined && config === word) checkFile(config, known);
  if (pid !== undefined && (url ?? config ?? server) !== undefined) {
    throw new UsageError('--pid names the gateway to talk to: give no URL, configuration or command with it.');
  }
  if (url === undefined && header.length > 0) throw new UsageError('--header goes with a URL.');
  return { url, headers: fillIn(header), config, pid, server, timeoutMs, log };
}

/** A word that is not a file may be a mistyped name. */
function checkFile(word: string, known: readonly string[]): void {
  if (/[./\\~]/.test(word) || existsSync(word)) return;
  const nor = known.length > 0 ? `, nor one of ${known.join(', ')}` : '';
  throw new UsageError(`"${word}" is not a file${nor}.${hintAt(word, known)}`);
}

function toBody(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`"${text}" is not JSON. Give one object, such as '{"city": "Oslo"}', or --arg city=Oslo.`);
  }
  if (!isObject(value))
    throw new UsageError('The arguments of a tool are one JSON object, such as \'{"city": "Oslo"}\'.');
  return value;
}
