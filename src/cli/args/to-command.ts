// Checks the options and words of each command and builds its typed form. Throws a UsageError that says what is wrong and what to do.
import { existsSync } from 'node:fs';
import { suggest } from '../../config/check/suggest.ts';
import { DEFAULT_HOST, LOG_LEVELS, SHARING } from '../../config/settings.ts';
import type { LogLevel } from '../../config/settings.ts';
import { isObject } from '../../protocol/message.ts';
import { ALL_REVISIONS } from '../../gateway/dialect/revisions.ts';
import type { Condition } from '../../flow/header.ts';
import type { Command, FlowsAction, LsKind, TargetOptions, RunnableCommand, Shell } from './command.ts';
import { toAudit, toLogs } from './audit-commands.ts';
import { toLogin, toLoginOptions, toLogins, toLogout } from './login-commands.ts';
import { UsageError, none, only, toPid, toSpanMs } from './option-values.ts';
import type { OptionValue, ParsedArgs } from './option-values.ts';
import { toPins } from './pins-command.ts';
import { toPolicyCommand } from './policy-command.ts';
import { toKeyCommand } from './key-command.ts';
import { toPairCommand } from './pair-command.ts';
import { toTrust } from './trust-command.ts';
import { programName } from '../program.ts';
import {
  DEFAULT_LIST_LIMIT,
  DEFAULT_START_SECONDS,
  ENDED_STATES,
  FLOW_ACTIONS,
  LS_KINDS,
  OPEN_STATES,
  SHELLS,
  WRAP_PINS,
} from './command-specs.ts';

export function toCommand(name: string, given: ParsedArgs): Command {
  return READERS[name as RunnableCommand['name']](given);
}

const READERS: Record<RunnableCommand['name'], (given: ParsedArgs) => RunnableCommand> = {
  wrap: toWrap,
  serve: toServe,
  check: ({ values, words }) => ({
    name: 'check',
    config: only(words, 'check'),
    schema: values['schema'] === true,
    print: values['print'] === true,
    json: values['json'] === true,
    runsSteps: values['run-steps'] === true,
  }),
  ls: toLs,
  call: toCall,
  run: toRun,
  explore: toExplore,
  flows: toFlows,
  read: toRead,
  prompt: toPrompt,
  status: toStatus,
  trust: toTrust,
  key: toKeyCommand,
  pair: toPairCommand,
  pins: toPins,
  policy: toPolicyCommand,
  logs: toLogs,
  audit: toAudit,
  login: toLogin,
  logout: toLogout,
  logins: toLogins,
  demo: toDemo,
  completion: ({ words }) => {
    const shell = only(words, 'completion');
    if (shell !== 'names' && !SHELLS.includes(shell as Shell))
      throw new UsageError(`Name your shell: ${SHELLS.join(', ')}.`);
    return { name: 'completion', shell: shell as Shell | 'names' };
  },
};

function toWrap({ values, words }: ParsedArgs): RunnableCommand {
  const [first, ...args] = words;
  if (first === undefined) throw new UsageError('Give the command to wrap after "--", or a URL.');
  const headers = toPairs(values['header'], ':', '--header "Name: value"');
  const env = toPairs(values['env'], '=', '--env NAME=value');
  const hasUrl = isUrl(first);
  if (!hasUrl) checkNoUrl(first);
  if (hasUrl && args.length > 0)
    throw new UsageError(`A URL takes no further words, but "${args.join(' ')}" was given.`);
  if (hasUrl && env.length > 0) throw new UsageError('--env is for a command; for a URL use --header.');
  if (!hasUrl && headers.length > 0) throw new UsageError('--header is for a URL; for a command use --env.');
  return {
    name: 'wrap',
    server: hasUrl
      ? { url: toUrl(first)!, headers: toHeaders(headers), auth: toLoginOptions(values) }
      : { command: first, args, env: Object.fromEntries(env) },
    revision: oneOf(values['revision'], ALL_REVISIONS, '--revision'),
    port: toPort(values['port']),
    host: toHost(values['host']) ?? DEFAULT_HOST,
    open: values['open'] === true,
    startMs: toSeconds(values['start-timeout'] ?? String(DEFAULT_START_SECONDS), '--start-timeout') * 1000,
    typedHeaders: headers,
    pins: oneOf(values['pins'], WRAP_PINS, '--pins'),
    isRecorded: values['no-audit'] !== true,
    isAsking: values['no-ask'] !== true,
    log: toLevel(values['log']),
    logCalls: values['log-calls'] === true,
  };
}

/** Refuses to start a mistyped URL as a command. */
function checkNoUrl(word: string): void {
  const scheme = /^([a-z][\w+.-]*):\/\//i.exec(word)?.[1];
  if (scheme !== undefined) {
    throw new UsageError(`"${scheme}://" is not supported: write http://, https://, ws:// or wss://.`);
  }
  if (/^(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\]|[\w-]+(\.[\w-]+)+):\d+(\/|$)/i.test(word)) {
    throw new UsageError(`"${word}" looks like a URL: write http://${word}.`);
  }
}

function isUrl(word: string): boolean {
  return /^(https?|wss?):\/\//i.test(word);
}

function toServe({ values, words }: ParsedArgs): RunnableCommand {
  const port = toPort(values['port']);
  const host = toHost(values['host']);
  const stdio = values['stdio'] === true;
  if (stdio && host !== undefined && port === undefined)
    throw new UsageError('--stdio with --host needs a --port, too.');
  const logCalls = values['log-calls'] === true;
  const share = oneOf(values['share'], SHARING, '--share');
  return {
    name: 'serve',
    config: only(words, 'serve'),
    port,
    host,
    open: values['open'] === true,
    stdio,
    share,
    log: toLevel(values['log']),
    logCalls,
  };
}

function toDemo({ values, words }: ParsedArgs): RunnableCommand {
  none(words, 'demo');
  const stdio = values['stdio'] === true;
  if (stdio && (values['port'] !== undefined || values['host'] !== undefined)) {
    throw new UsageError('--stdio listens on no port: leave out --port and --host, or leave out --stdio.');
  }
  const host = toHost(values['host']) ?? DEFAULT_HOST;
  return {
    name: 'demo',
    port: toPort(values['port']),
    host,
    open: values['open'] === true,
    stdio,
    log: toLevel(values['log']),
  };
}

function toLs(given: ParsedArgs): RunnableCommand {
  const { values, words } = given;
  const isListing = (word: string): boolean => LS_KINDS.includes(word as LsKind);
  const [what, ...more] = words.filter(isListing);
  if (more.length > 0) throw new UsageError(`Ask for one of ${LS_KINDS.join(', ')}, or for none to see all.`);
  const others = words.filter((word) => !isListing(word));
  const listing = what as LsKind | undefined;
  return { name: 'ls', what: listing, json: values['json'] === true, ...toTargetOptions(given, others, LS_KINDS) };
}

function toStatus(given: ParsedArgs): RunnableCommand {
  const { json, lines } = given.values;
  return { name: 'status', json: json === true, lines: lines === true, ...toTargetOptions(given, given.words) };
}

function toCall(given: ParsedArgs): RunnableCommand {
  const { values } = given;
  const [tool, ...words] = given.words;
  if (tool === undefined) throw new UsageError(`Name the tool to call. To see them: ${programName()} ls tools`);
  const [body, ...rest] = words.filter((word) => !isUrl(word));
  if (rest.length > 0)
    throw new UsageError(`"call" takes a tool and one JSON object; "${rest.join(' ')}" was not expected.`);
  return {
    name: 'call',
    tool,
    args: toPairs(values['arg'], '=', '--arg name=value'),
    body: toBody(body),
    yes: values['yes'] === true,
    json: values['json'] === true,
    ...toTargetOptions(given, words.filter(isUrl)),
  };
}

function toRead(given: ParsedArgs): RunnableCommand {
  const [uri, ...words] = given.words;
  if (uri === undefined) throw new UsageError(`Name the resource to read. To see them: ${programName()} ls resources`);
  return { name: 'read', uri, json: given.values['json'] === true, ...toTargetOptions(given, words) };
}

function toPrompt(given: ParsedArgs): RunnableCommand {
  const [prompt, ...words] = given.words;
  if (prompt === undefined) throw new UsageError(`Name the prompt. To see them: ${programName()} ls prompts`);
  const args = toPairs(given.values['arg'], '=', '--arg name=value');
  return { name: 'prompt', prompt, args, json: given.values['json'] === true, ...toTargetOptions(given, words) };
}

function toRun({ values, words }: ParsedArgs): RunnableCommand {
  const file = only(words, 'run');
  if (file === undefined) throw new UsageError('Name the file of the flow.');
  return {
    name: 'run',
    file,
    flow: values['flow'] as string | undefined,
    answers: values['answers'] as string | undefined,
    args: toPairs(values['arg'], '=', '--arg name=value'),
    json: values['json'] === true,
  };
}

function toExplore({ values, words }: ParsedArgs): RunnableCommand {
  const file = only(words, 'explore');
  if (file === undefined) throw new UsageError('Name the file with the flows.');
  return { name: 'explore', file, out: values['out'] as string | undefined, check: values['check'] === true };
}

function toFlows({ values, words }: ParsedArgs): RunnableCommand {
  const [action, id, value, ...more] = words;
  if (action === undefined) throw new UsageError(`Say what to do: ${FLOW_ACTIONS.join(', ')}.`);
  if (!FLOW_ACTIONS.includes(action as FlowsAction)) throw new UsageError(unknownAction(action));
  const known = action as FlowsAction;
  const wantsId = known !== 'ls' && known !== 'replay';
  if (wantsId && id === undefined) throw new UsageError(`Name the session. To see them: ${programName()} flows ls`);
  if (!wantsId) none(words.slice(1), `flows ${known}`);
  if (known !== 'answer') none(words.slice(2), `flows ${known}`);
  if (more.length > 0)
    throw new UsageError(`Unexpected words "${more.join(' ')}": write an answer with spaces in quotes.`);
  const against = (values['against'] ?? []) as string[];
  if (known === 'replay' && against.length === 0)
    throw new UsageError('Name the file with the new code: --against FILE.');
  return {
    name: 'flows',
    action: known,
    id,
    value,
    against,
    args: toPairs(values['arg'], '=', '--arg key=value'),
    store: values['store'] as string | undefined,
    config: values['config'] as string | undefined,
    prefix: values['prefix'] as string | undefined,
    fileKey: toVariable(values['file-key'], '--file-key'),
    sealKeys: ((values['seal-key'] ?? []) as string[]).map((name) => toVariable(name, '--seal-key')!),
    code: values['code'] as string | undefined,
    states: toStates((values['state'] ?? ['open']) as string[]),
    flow: values['flow'] as string | undefined,
    principal: values['principal'] as string | undefined,
    olderMs: toSpanMs(values['older'], '--older'),
    newerMs: toSpanMs(values['newer'], '--newer'),
    limit: toCount(values['limit']),
    reason: values['reason'] as string | undefined,
    waitMs: values['wait'] === undefined ? undefined : toSeconds(values['wait'], '--wait') * 1000,
    json: values['json'] === true,
  };
}

const MAX_LIST = 10_000;

function unknownAction(word: string): string {
  const meant = suggest(word, FLOW_ACTIONS);
  return `"${word}" is not one of ${FLOW_ACTIONS.join(', ')}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`;
}

/** Undefined: all states. */
function toStates(given: string[]): Condition[] | undefined {
  const choices = ['open', 'ended', 'all', ...OPEN_STATES, ...ENDED_STATES];
  for (const one of given) oneOf(one, choices, '--state');
  if (given.includes('all')) return undefined;
  const named: Record<string, readonly Condition[]> = { open: OPEN_STATES, ended: ENDED_STATES };
  const every: readonly Condition[] = [...OPEN_STATES, ...ENDED_STATES];
  return given.flatMap((one) => named[one] ?? every.filter((state) => state === one));
}

/** Takes the name of a variable, as a key itself would appear in the process list. */
function toVariable(given: OptionValue, option: string): string | undefined {
  if (given === undefined || /^[A-Za-z_]\w*$/.test(String(given))) return given as string | undefined;
  throw new UsageError(`${option} takes the name of an environment variable, not the key itself.`);
}

function toCount(given: OptionValue): number {
  if (given === undefined) return DEFAULT_LIST_LIMIT;
  const count = Number(given);
  if (Number.isInteger(count) && count > 0 && count <= MAX_LIST) return count;
  throw new UsageError(`--limit must be a number from 1 to ${MAX_LIST}, not "${String(given)}".`);
}

/** What to connect to: a URL or file as a word, an option, or a command after `--`. At most one of them. */
function toTargetOptions(
  { values, command }: ParsedArgs,
  words: string[],
  known: readonly string[] = [],
): TargetOptions {
  const [word, ...rest] = words;
  if (rest.length > 0) throw new UsageError(`Unexpected words "${rest.join(' ')}": give one URL or file.`);
  const url = toUrl(values['url']) ?? (word !== undefined && isUrl(word) ? toUrl(word) : undefined);
  const config = (values['config'] as string | undefined) ?? (word !== undefined && !isUrl(word) ? word : undefined);
  const [first, ...args] = command ?? [];
  if (command && first === undefined) throw new UsageError('Give the command to start after "--".');
  const server = first === undefined ? undefined : { command: first, args };
  if ([url, config, server, word !== undefined && values['url']].filter(Boolean).length > 1) {
    throw new UsageError('Give a URL, a configuration, or a command after "--": one of them.');
  }
  if (config !== undefined && config === word) checkFile(config, known);
  const pid = toPid(values['pid']);
  if (pid !== undefined && (url ?? config ?? server) !== undefined) {
    throw new UsageError('--pid names the gateway to talk to: give no URL, configuration or command with it.');
  }
  const headers = toHeaders(toPairs(values['header'], ':', '--header "Name: value"'));
  if (url === undefined && values['header'] !== undefined) throw new UsageError('--header goes with a URL.');
  const timeoutMs = values['timeout'] === undefined ? undefined : toSeconds(values['timeout'], '--timeout') * 1000;
  return { url, headers, config, pid, server, timeoutMs, log: toLevel(values['log']) };
}

/** A word that is not a file may be a mistyped name. */
function checkFile(word: string, known: readonly string[]): void {
  if (/[./\\~]/.test(word) || existsSync(word)) return;
  const meant = suggest(word, known);
  throw new UsageError(
    `"${word}" is not a file${known.length > 0 ? `, nor one of ${known.join(', ')}` : ''}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
  );
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

function toPairs(given: OptionValue, sign: string, form: string): [string, string][] {
  return ((given ?? []) as string[]).map((text) => {
    const at = text.indexOf(sign);
    if (at < 1) throw new UsageError(`"${text}" has no name and value: write ${form}.`);
    const value = text.slice(at + 1);
    return sign === ':' ? [text.slice(0, at).trim(), value.trim()] : [text.slice(0, at), value];
  });
}

/** Fills in `${NAME}`, so that a secret appears in no file and no process list. */
function toHeaders(typed: [string, string][]): Record<string, string> {
  const { env } = process; // environment.ts would load more than `wrap` needs before its first answer
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
      if (env[name] === undefined) throw new UsageError(`--header: the environment variable ${name} is not set.`);
      return env[name];
    });
  return Object.fromEntries(typed.map(([name, text]) => [name, fill(text)]));
}

function toPort(given: OptionValue): number | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port must be a number from 0 to 65535, not "${text}".`);
}

function toHost(given: OptionValue): string | undefined {
  if (given === '') throw new UsageError('--host must be an address or a host name, such as 127.0.0.1.');
  return given as string | undefined;
}

function toSeconds(given: OptionValue, option: string): number {
  const seconds = Number(given);
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw new UsageError(`${option} must be a number of seconds up to 3600, not "${String(given)}".`);
}

function toUrl(given: OptionValue): string | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  if (URL.canParse(text) && /^(https?|wss?):$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`"${text}" is not a URL: write http://…, https://…, ws://… or wss://….`);
}

function toLevel(given: OptionValue): LogLevel | undefined {
  return oneOf(given, LOG_LEVELS, '--log');
}

function oneOf<T extends string>(given: OptionValue, choices: readonly T[], option: string): T | undefined {
  if (given === undefined || choices.includes(given as T)) return given as T | undefined;
  throw new UsageError(`${option} must be one of ${choices.join(', ')}, not "${String(given)}".`);
}
