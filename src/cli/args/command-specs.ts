// The table of commands with their options and examples. The parser, the help and the shell completion all use it.
import { DEFAULT_HOST, DEFAULT_PORT } from '../../config/settings.ts';
import { ALL_REVISIONS } from '../../gateway/dialect/revisions.ts';
import { AUDIT_SPECS } from './audit-commands.ts';
import { KEY_SPEC } from './key-command.ts';
import { LOGIN_OPTIONS, LOGIN_SPECS } from './login-commands.ts';
import { PAIR_SPEC } from './pair-command.ts';
import { PINS_SPEC } from './pins-command.ts';
import { POLICY_SPEC } from './policy-command.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import type { OptionSpec } from './option-specs.ts';
import { TRUST_SPEC } from './trust-command.ts';

export const DEFAULT_START_SECONDS = 50;
export const LS_KINDS = ['tools', 'resources', 'prompts', 'servers'] as const;
export const FLOW_ACTIONS = ['ls', 'show', 'answer', 'cancel', 'retry', 'replay'] as const;
/** States of open sessions and of ended ones, as `parley flows ls --state` names them. */
export const OPEN_STATES = ['waiting', 'working', 'parked', 'ending'] as const;
export const ENDED_STATES = ['completed', 'cancelled', 'failed', 'expired'] as const;
export const DEFAULT_LIST_LIMIT = 50;
export const WRAP_PINS = ['destructive', 'flag', 'hold', 'off'] as const;
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export interface CommandSpec {
  name: string;
  summary: string;
  /** What follows the name of the command. */
  usage: string[];
  /** A few more lines about the command. */
  about?: string[];
  options: Record<string, OptionSpec>;
  examples: { line: string; does: string }[];
  /** Words that may follow the command: `file` for a path, `names` for names that the running gateway knows. */
  words?: { choices?: readonly string[]; file?: boolean; names?: 'tools' };
}

const { port, host, open, log, share, url, header, config, pid, timeout, logCalls, json, help } = COMMON_OPTIONS;

/** Options of every command that connects to a gateway or server. */
const reach = { url, header, config, pid, timeout };
const WHOM = [
  'Connects to the URL, the servers of --config or the COMMAND, else to the gateway that runs here. If none runs, starts the',
  'servers of the configuration for this command only.',
];

export const COMMAND_SPECS: readonly CommandSpec[] = [
  {
    name: 'wrap',
    summary: 'make one server work in any client: put it before the command, or give a URL',
    usage: ['[options] -- COMMAND [ARGS…]', '[options] URL'],
    about: [
      'Serves on stdin and stdout, for a client that starts it, or on a port with --port. Translates between any revisions and',
      'transports; one line on stderr says what each side speaks.',
    ],
    options: {
      port: { ...port, text: 'serve on http://127.0.0.1:N/mcp instead of stdio; 0 takes any free port' },
      host,
      open,
      header,
      env: { type: 'string', value: 'K=V', text: 'a variable for the command; may be repeated', multiple: true },
      revision: {
        type: 'string',
        value: 'R',
        text: `the only revision to speak with the server: ${ALL_REVISIONS.join(', ')}`,
        choices: ALL_REVISIONS,
      },
      'start-timeout': {
        type: 'string',
        value: 'S',
        text: `seconds the server may take to start (default ${DEFAULT_START_SECONDS})`,
      },
      ...LOGIN_OPTIONS,
      pins: {
        type: 'string',
        value: 'WHAT',
        text: 'what is held back if it changes after it was first seen: destructive (default), hold (all), flag (nothing), off',
        choices: WRAP_PINS,
      },
      'log-calls': logCalls,
      'no-audit': { type: 'boolean', text: 'do not record calls for "parley logs"' },
      'no-ask': { type: 'boolean', text: 'do not ask users in place of a client that cannot ask them; adds no tool' },
      log,
      help,
    },
    examples: [
      { line: 'parley wrap -- npx -y @modelcontextprotocol/server-everything', does: 'a server that is a command' },
      {
        line: "parley wrap https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'",
        does: 'a server with a URL',
      },
      { line: 'parley wrap --port 8470 -- uvx mcp-server-git', does: 'a stdio server for clients that want a URL' },
    ],
  },
  {
    name: 'serve',
    summary: 'give all clients the same servers: many servers behind one URL',
    usage: ['[CONFIG] [--port N] [--host H]', '[CONFIG] --stdio'],
    about: [
      'Reads the mcpServers file that clients have, or parley.config.{jsonc,json,yaml} here or in your config folder.',
      'Each server is also served alone at /mcp/<server>. When the file changes, only what changed is restarted.',
    ],
    options: {
      port: { ...port, text: `0 takes any free port; default: what the file says, else ${DEFAULT_PORT}` },
      host,
      open,
      stdio: { type: 'boolean', text: 'serve on stdin and stdout; with --port on both' },
      share,
      'log-calls': logCalls,
      log,
      help,
    },
    words: { file: true },
    examples: [
      { line: 'parley serve', does: 'the configuration of this folder, or your own' },
      { line: 'parley serve ~/.cursor/mcp.json --port 9000', does: 'the servers of another client' },
    ],
  },
  {
    name: 'check',
    summary: 'report every problem of a configuration, with its position and what to do',
    usage: ['[CONFIG] [--print] [--json]', '--schema'],
    options: {
      schema: { type: 'boolean', text: 'print the JSON Schema of configurations, for editors' },
      print: { type: 'boolean', text: 'print the normalized configuration, with all defaults' },
      json: { ...json, text: 'print the problems as JSON' },
      'run-steps': { type: 'boolean', text: 'load the files of steps, too, which runs them' },
      help,
    },
    words: { file: true },
    examples: [{ line: 'parley check parley.config.yaml', does: 'exit status 1 if there is an error' }],
  },
  TRUST_SPEC,
  {
    name: 'ls',
    summary: 'list tools, resources, prompts and servers',
    usage: [`[${LS_KINDS.join('|')}] [URL|CONFIG] [options]`, `[${LS_KINDS.join('|')}] [options] -- COMMAND [ARGS…]`],
    about: WHOM,
    options: { ...reach, json, log, help },
    words: { choices: LS_KINDS, file: true },
    examples: [
      { line: 'parley ls', does: 'everything the running gateway offers' },
      { line: 'parley ls tools https://example.com/mcp', does: 'the tools of a server' },
      { line: 'parley ls tools -- npx -y some-server', does: 'the tools of a command' },
    ],
  },
  {
    name: 'call',
    summary: 'call one tool, and answer its questions on the terminal',
    usage: ['TOOL [--arg K=V …] [JSON] [options]', 'TOOL [--arg K=V …] [JSON] [options] -- COMMAND [ARGS…]'],
    about: WHOM,
    options: {
      arg: {
        type: 'string',
        value: 'K=V',
        text: 'an argument, may be repeated; the schema of the tool gives it its type',
        multiple: true,
      },
      yes: { type: 'boolean', short: 'y', text: 'answer the questions of the tool with yes and its defaults' },
      json: { ...json, text: 'print the whole result as JSON' },
      ...reach,
      log,
      help,
    },
    words: { names: 'tools' },
    examples: [
      { line: 'parley call weather --arg city=Oslo', does: 'through the running gateway' },
      { line: `parley call add '{"a": 2, "b": 40}' --json`, does: 'arguments and result as JSON' },
      { line: 'parley call echo --arg message=hi -- npx -y some-server', does: 'a tool of a command' },
    ],
  },
  {
    name: 'read',
    summary: 'print one resource',
    usage: ['URI [options]', 'URI [options] -- COMMAND [ARGS…]'],
    about: WHOM,
    options: { ...reach, json, log, help },
    examples: [{ line: 'parley read demo://about', does: 'through the running gateway' }],
  },
  {
    name: 'prompt',
    summary: 'print one prompt, filled in',
    usage: ['NAME [--arg K=V …] [options]', 'NAME [--arg K=V …] [options] -- COMMAND [ARGS…]'],
    about: WHOM,
    options: {
      arg: { type: 'string', value: 'K=V', text: 'an argument; may be repeated', multiple: true },
      ...reach,
      json,
      log,
      help,
    },
    examples: [{ line: 'parley prompt plan_evening --arg city=Oslo', does: 'through the running gateway' }],
  },
  {
    name: 'run',
    summary: 'run a flow on the terminal',
    usage: ['FILE [--flow NAME] [--arg K=V …] [--answers FILE] [--json]'],
    about: [
      'Asks the questions of the flow, one after the other. Esc goes back to an earlier question, or cancels. Nothing is stored:',
      'the next run starts over. Without a terminal, the answers come from --answers.',
    ],
    options: {
      flow: { type: 'string', value: 'NAME', text: 'the flow to run, if the file has several' },
      arg: { type: 'string', value: 'K=V', text: 'an answer in advance, may be repeated', multiple: true },
      answers: { type: 'string', value: 'FILE', text: 'a JSON object with answers by the names of the questions' },
      json: { ...json, text: 'print the result as JSON' },
      help,
    },
    words: { file: true },
    examples: [
      { line: 'parley run trip.ts', does: 'with arrow keys, and answers checked at once' },
      { line: 'parley run trip.ts --arg city=Oslo --answers rest.json', does: 'asks nothing' },
    ],
  },
  {
    name: 'explore',
    summary: 'find the questions of your flows, so that clients can give the answers as arguments',
    usage: ['FILE [--out FILE] [--check]'],
    about: [
      'Runs the flows of the file with made-up answers, in a sandbox: no files, no network, no other processes, no timers. It',
      'stops at every consent and at the first blocked call, and says where. Writes the questions next to the file, for the',
      'option "explored" of serveFlows.',
    ],
    options: {
      out: {
        type: 'string',
        value: 'FILE',
        text: 'the file to write (default: FILE with the extension .explored.json)',
      },
      check: { type: 'boolean', text: 'write nothing; exit status 1 if the file is missing or out of date' },
      help,
    },
    words: { file: true },
    examples: [
      { line: 'parley explore trip.mjs', does: 'writes trip.explored.json' },
      { line: 'parley explore trip.mjs --check', does: 'for CI' },
    ],
  },
  {
    name: 'flows',
    summary: 'see the sessions of your flows, answer, cancel or retry one, and check them before a deploy',
    usage: [
      'ls [--state S] [--flow NAME] [--principal P] [--older SPAN] [--newer SPAN] [--limit N]',
      'show ID',
      'answer ID [VALUE] [--arg KEY=VALUE …] [--principal P]',
      'cancel ID [--reason TEXT]',
      'retry ID',
      'replay --against FILE',
    ],
    about: [
      'Reads the store of a server, which may be running or not. ID is the id of a session, or its beginning. Requests wait in',
      'the store until the server of the flow takes them, within seconds; with --code, this command does the work. "replay"',
      'runs open sessions against new code, without running a step or writing anything.',
    ],
    options: {
      store: {
        type: 'string',
        value: 'STORE',
        text: 'sqlite:FILE, redis://… or rediss://… (default: that of --code, $PARLEY_FLOW_STORE, or the configuration)',
      },
      code: {
        type: 'string',
        value: 'FILE',
        text: 'a file that exports the flows, and their serveFlows options as "options": do the work here',
      },
      config: { type: 'string', value: 'FILE', text: 'a configuration whose "flows" has store and keys' },
      prefix: { type: 'string', value: 'P', text: 'prefix of the keys in a Redis store (default parley:flow)' },
      'file-key': { type: 'string', value: 'NAME', text: 'the variable that has the key of the SQLite file' },
      'seal-key': {
        type: 'string',
        value: 'NAME',
        text: 'a variable that has one of the keys of serveFlows; may be repeated',
        multiple: true,
      },
      state: {
        type: 'string',
        value: 'S',
        text: `open (default), ended, all, or: ${[...OPEN_STATES, ...ENDED_STATES].join(', ')}; may be repeated`,
        multiple: true,
        choices: ['open', 'ended', 'all', ...OPEN_STATES, ...ENDED_STATES],
      },
      flow: { type: 'string', value: 'NAME', text: 'only sessions of this flow' },
      principal: {
        type: 'string',
        value: 'P',
        text: 'only sessions of this user, by name or by the owner in "show"; for "answer": the person to answer for',
      },
      older: { type: 'string', value: 'SPAN', text: 'only sessions started longer ago than this: 30s, 5m, 2h, 1d' },
      newer: { type: 'string', value: 'SPAN', text: 'only sessions started since then' },
      limit: {
        type: 'string',
        value: 'N',
        text: `how many to list (default ${DEFAULT_LIST_LIMIT}), the last active first`,
      },
      arg: {
        type: 'string',
        value: 'K=V',
        text: 'an answer, if several questions are open; may be repeated',
        multiple: true,
      },
      reason: { type: 'string', value: 'TEXT', text: 'the reason that the client sees' },
      wait: { type: 'string', value: 'S', text: 'seconds to wait for a server (default 15) and its steps (3)' },
      against: { type: 'string', value: 'FILE', text: 'the new code, for "replay"; may be repeated', multiple: true },
      json: { ...json },
      help,
    },
    words: { choices: FLOW_ACTIONS },
    examples: [
      {
        line: 'parley flows ls --store sqlite:flows.db --state parked',
        does: 'sessions that cannot continue, and why',
      },
      { line: 'parley flows show 8xkqLm2p --store redis://localhost', does: 'one session with its journal' },
      {
        line: 'parley flows answer 8xkqLm2p yes --store sqlite:flows.db',
        does: 'answer the open question; a running server continues',
      },
      {
        line: 'parley flows replay --against trip.ts --store sqlite:flows.db',
        does: 'exit status 1 if a session would be parked',
      },
    ],
  },
  KEY_SPEC,
  {
    name: 'status',
    summary: 'show the state of each server of the running gateway, and why one fails',
    usage: ['[URL|CONFIG] [options]', '[options] -- COMMAND [ARGS…]'],
    about: [
      'Asks the gateway that runs here, or the one at the URL, and starts nothing. With a CONFIG or COMMAND, starts its servers',
      'once, without a gateway, to see their state.',
    ],
    options: { ...reach, json, lines: COMMON_OPTIONS.lines, log, help },
    words: { file: true },
    examples: [
      { line: 'parley status --lines', does: 'what to paste into a client' },
      { line: 'parley status --json', does: 'for a script' },
      { line: 'parley status ~/.cursor/mcp.json', does: 'whether the servers of a file start, and why one does not' },
    ],
  },
  PINS_SPEC,
  PAIR_SPEC,
  POLICY_SPEC,
  ...AUDIT_SPECS,
  ...LOGIN_SPECS,
  {
    name: 'demo',
    summary: 'serve a small demo server, to try a client with',
    usage: ['[--port N] [--host H]', '--stdio'],
    options: {
      port: { ...port, text: `0 takes any free port; without --port the next free one from ${DEFAULT_PORT} on` },
      host,
      open,
      stdio: { type: 'boolean', text: 'no port; one JSON-RPC message per line on stdin and stdout' },
      log,
      help,
    },
    examples: [{ line: 'parley demo', does: `http://${DEFAULT_HOST}:${DEFAULT_PORT}/mcp` }],
  },
  {
    name: 'completion',
    summary: 'print a script for your shell that completes commands and options',
    usage: [SHELLS.join('|')],
    options: { help },
    words: { choices: SHELLS },
    examples: [
      { line: 'source <(parley completion bash)', does: 'in ~/.bashrc' },
      { line: 'parley completion fish > ~/.config/fish/completions/parley.fish', does: 'once' },
    ],
  },
];

export function findCommandSpec(name: string): CommandSpec | undefined {
  return COMMAND_SPECS.find((spec) => spec.name === name);
}
