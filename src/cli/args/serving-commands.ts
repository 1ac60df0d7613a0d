// What can be typed for the commands that serve, and for those that prepare it: `wrap`, `serve`, `demo`, `check`, `completion`.
import { DEFAULT_HOST, DEFAULT_PORT } from '../../config/settings.ts';
import { ALL_REVISIONS } from '../../mcp/eras/revisions.ts';
import type { CommandAddress, UrlAddress } from '../../mcp/connect/address.ts';
import { defineCommand, none, only } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand } from '../../kernel/command/command-spec.ts';
import { LOGIN_OPTIONS, toLoginOptions } from './login-commands.ts';
import { COMMON, UsageError, option } from '../../kernel/command/option.ts';
import { wrapPins } from '../../gateway/features/pins/command.ts';
import { isServerUrl, schemesWith } from '../../mcp/connect/url-links.ts';
import { SHARED, fillIn, toUrl } from './shared-options.ts';

const { choice, flag, pairs, port, seconds, texts } = option;
export const DEFAULT_START_SECONDS = 50;
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
const { host, open, log, logCalls, share, header } = SHARED;
const { json } = COMMON;

export type WrapCommand = ParsedCommand<typeof WRAP>;
export type ServeCommand = ParsedCommand<typeof SERVE>;
export type DemoCommand = ParsedCommand<typeof DEMO>;
export type CheckCommand = ParsedCommand<typeof CHECK>;
export type Shell = (typeof SHELLS)[number];

export const WRAP = defineCommand({
  name: 'wrap',
  summary: 'make one server work in any client: put it before the command, or give a URL',
  usage: ['[options] -- COMMAND [ARGS…]', '[options] URL'],
  about: [
    'Serves on stdin and stdout, for a client that starts it, or on a port with --port. Translates between any revisions and',
    'transports; one line on stderr says what each side speaks.',
  ],
  options: {
    port: port('serve on http://127.0.0.1:N/mcp instead of stdio; 0 takes any free port'),
    host,
    open,
    header,
    env: pairs('a variable for the command; may be repeated', '--env NAME=value'),
    revision: choice('R', ALL_REVISIONS, `the only revision to speak with the server: ${ALL_REVISIONS.join(', ')}`),
    'start-timeout': seconds(`seconds the server may take to start (default ${DEFAULT_START_SECONDS})`),
    step: texts(
      'FILE',
      'a step of yours, in TypeScript or JavaScript, that every message passes; may be repeated, outermost first',
    ),
    ...LOGIN_OPTIONS,
    pins: wrapPins,
    'log-calls': logCalls,
    'no-audit': flag('do not record calls for "parley logs"'),
    'no-ask': flag('do not ask users in place of a client that cannot ask them; adds no tool'),
    log,
  },
  examples: {
    'parley wrap -- npx -y @modelcontextprotocol/server-everything': 'a server that is a command',
    "parley wrap https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'": 'a server with a URL',
    'parley wrap --port 8470 -- uvx mcp-server-git': 'a stdio server for clients that want a URL',
    'parley wrap --step ./my-step.ts -- uvx mcp-server-git': 'with a step of yours before the server',
  },
  read({ options, words }) {
    const { host = DEFAULT_HOST, port, open, revision, log, header: typedHeaders } = options;
    return {
      server: toServer(words, options),
      revision,
      /** Undefined: serve on stdin and stdout. */
      port,
      host,
      open,
      startMs: options['start-timeout'] ?? DEFAULT_START_SECONDS * 1000,
      /** As typed, with `${…}` not yet filled in. */
      typedHeaders,
      /** Files, as typed: a user who names a file trusts it. */
      steps: options.step,
      pins: options.pins,
      isRecorded: !options['no-audit'],
      isAsking: !options['no-ask'],
      log,
      logCalls: options['log-calls'],
    };
  },
});

type ServerOptions = Parameters<typeof toLoginOptions>[0] & { header: [string, string][]; env: [string, string][] };

function toServer([first, ...args]: string[], options: ServerOptions): CommandAddress | UrlAddress {
  const { header: headers, env } = options;
  if (first === undefined) throw new UsageError('Give the command to wrap after "--", or a URL.');
  if (!isServerUrl(first)) {
    refuseMistypedUrl(first);
    if (headers.length > 0) throw new UsageError('--header is for a URL; for a command use --env.');
    return { command: first, args, env: Object.fromEntries(env) };
  }
  if (args.length > 0) throw new UsageError(`A URL takes no further words, but "${args.join(' ')}" was given.`);
  if (env.length > 0) throw new UsageError('--env is for a command; for a URL use --header.');
  return { url: toUrl(first), headers: fillIn(headers), auth: toLoginOptions(options) };
}

/** It must not be started as a command. */
function refuseMistypedUrl(word: string): void {
  const scheme = /^([a-z][\w+.-]*):\/\//i.exec(word)?.[1];
  if (scheme !== undefined) {
    throw new UsageError(`"${scheme}://" is not supported: write ${schemesWith('://')}.`);
  }
  if (/^(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\]|[\w-]+(\.[\w-]+)+):\d+(\/|$)/i.test(word)) {
    throw new UsageError(`"${word}" looks like a URL: write http://${word}.`);
  }
}

export const SERVE = defineCommand({
  name: 'serve',
  summary: 'give all clients the same servers: many servers behind one URL',
  usage: ['[CONFIG…] [--port N] [--host H]', '[CONFIG…] --stdio'],
  about: [
    'Reads the mcpServers file that clients have, or parley.config.{jsonc,json,yaml} here or in your config folder.',
    'Of several files, all bring servers, and the first one may have settings, too.',
    'Each server is also served alone at /mcp/<server>. When the file changes, only what changed is restarted.',
  ],
  options: {
    port: port(`0 takes any free port; default: what the file says, else ${DEFAULT_PORT}`),
    host,
    open,
    stdio: flag('serve on stdin and stdout; with --port on both'),
    share,
    'log-calls': logCalls,
    log,
  },
  words: { file: true },
  examples: {
    'parley serve': 'the configuration of this folder, or your own',
    'parley serve ~/.cursor/mcp.json --port 9000': 'the servers of another client',
    'parley serve ~/.cursor/mcp.json ~/.codex/config.toml': 'the servers of two clients together',
  },
  read({ options: { 'log-calls': logCalls, ...options }, words }) {
    const { stdio, host, port } = options;
    if (stdio && host !== undefined && port === undefined)
      throw new UsageError('--stdio with --host needs a --port, too.');
    const [config, ...besides] = words;
    return { ...options, logCalls, config, besides };
  },
});

export const CHECK = defineCommand({
  name: 'check',
  summary: 'report every problem of a configuration, with its position and what to do',
  usage: ['[CONFIG] [--print] [--json]', '--schema'],
  options: {
    schema: flag('print the JSON Schema of configurations, for editors'),
    print: flag('print the normalized configuration, with all defaults'),
    json: { ...json, text: 'print the problems as JSON' },
    'run-steps': flag('load the files of steps, too, which runs them'),
  },
  words: { file: true },
  examples: { 'parley check parley.config.yaml': 'exit status 1 if there is an error' },
  read: ({ options: { 'run-steps': runsSteps, ...options }, words }) => ({
    ...options,
    runsSteps,
    config: only(words, 'check'),
  }),
});

export const DEMO = defineCommand({
  name: 'demo',
  summary: 'serve a small demo server, to try a client with',
  usage: ['[--port N] [--host H]', '--stdio'],
  options: {
    port: port(`0 takes any free port; without --port the next free one from ${DEFAULT_PORT} on`),
    host,
    open,
    stdio: flag('no port; one JSON-RPC message per line on stdin and stdout'),
    log,
  },
  examples: { 'parley demo': `http://${DEFAULT_HOST}:${DEFAULT_PORT}/mcp` },
  read({ options, words }) {
    const { stdio, port, host } = options;
    none(words, 'demo');
    if (stdio && (port ?? host) !== undefined) {
      throw new UsageError('--stdio listens on no port: leave out --port and --host, or leave out --stdio.');
    }
    return { ...options, host: host ?? DEFAULT_HOST };
  },
});

export const COMPLETION = defineCommand({
  name: 'completion',
  summary: 'print a script for your shell that completes commands and options',
  usage: [SHELLS.join('|')],
  options: {},
  words: { choices: SHELLS },
  examples: {
    'source <(parley completion bash)': 'in ~/.bashrc',
    'parley completion fish > ~/.config/fish/completions/parley.fish': 'once',
  },
  read({ words }) {
    const word = only(words, 'completion');
    const shell = ([...SHELLS, 'names'] as const).find((one) => one === word); // the scripts ask for the names of tools
    if (shell === undefined) throw new UsageError(`Name your shell: ${SHELLS.join(', ')}.`);
    return { shell };
  },
});
