// The table of commands with their options and examples. The parser, the help and the shell completion all use it.
import { DEFAULT_HOST, DEFAULT_PORT, LOG_LEVELS, SHARING } from '../config/settings.ts';
import { ALL_REVISIONS } from '../gateway/dialect/revisions.ts';

export const DEFAULT_START_SECONDS = 50;
export const LS_KINDS = ['tools', 'resources', 'prompts', 'servers'] as const;
export const FLOW_ACTIONS = ['ls', 'show', 'answer', 'cancel', 'retry', 'replay'] as const;
/** States of open sessions and of ended ones, as `parley flows ls --state` names them. */
export const OPEN_STATES = ['waiting', 'working', 'parked', 'ending'] as const;
export const ENDED_STATES = ['completed', 'cancelled', 'failed', 'expired'] as const;
export const DEFAULT_LIST_LIMIT = 50;
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export interface OptionSpec {
  type: 'string' | 'boolean';
  /** Placeholder for the value in the help; a boolean has none. */
  value?: string;
  text: string;
  short?: string;
  multiple?: boolean;
  choices?: readonly string[];
}

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

const port: OptionSpec = { type: 'string', value: 'N', text: '0 takes any free port' };
const host: OptionSpec = {
  type: 'string',
  value: 'H',
  text: `the address to listen on (default ${DEFAULT_HOST}); anything but loopback can be reached by others`,
};
const log: OptionSpec = {
  type: 'string',
  value: 'LEVEL',
  text: `what to log on stderr: ${LOG_LEVELS.join(', ')}`,
  choices: LOG_LEVELS,
};
const share: OptionSpec = {
  type: 'string',
  value: 'HOW',
  text: `processes of all servers: ${SHARING.join(', ')}; "all": one for all clients, which cannot be asked`,
  choices: SHARING,
};
const url: OptionSpec = {
  type: 'string',
  value: 'URL',
  text: 'the gateway or server to talk to; a URL by itself does too',
};
const header: OptionSpec = {
  type: 'string',
  value: 'K:V',
  text: 'a header for the URL; ${NAME} in it is a variable of the environment; may be repeated',
  multiple: true,
};
const config: OptionSpec = {
  type: 'string',
  value: 'FILE',
  text: 'the servers of this file, started for this one command',
};
const pid: OptionSpec = { type: 'string', value: 'N', text: 'the gateway that is this process, where several run' };
const timeout: OptionSpec = {
  type: 'string',
  value: 'S',
  text: 'seconds to wait for an answer (default 60), and for servers to start (default 30, or "startMs" of the file)',
};
const logCalls: OptionSpec = {
  type: 'boolean',
  text: 'one line on stderr for each call: server, tool, duration, outcome; no arguments, no results',
};
const json: OptionSpec = { type: 'boolean', text: 'print JSON' };
const help: OptionSpec = { type: 'boolean', short: 'h', text: 'this help' };

/** Options of every command that connects to a gateway or server. */
const reach = { url, header, config, pid, timeout };
const WHOM = [
  'Talks to the URL, the servers of --config or the COMMAND; without one of them, to the gateway that runs here. Where none runs,',
  'the servers of the configuration are started for this one command.',
];

export const COMMAND_SPECS: readonly CommandSpec[] = [
  {
    name: 'wrap',
    summary: 'make one server work in any client: put it before the command, or give a URL',
    usage: ['[options] -- COMMAND [ARGS…]', '[options] URL'],
    about: [
      'Serves on stdin and stdout, for a client that starts it, or on a port with --port. Whatever revision and transport',
      'each side speaks, they understand each other; one line on stderr says what was found.',
    ],
    options: {
      port: { ...port, text: 'serve on http://127.0.0.1:N/mcp instead of stdio; 0 takes any free port' },
      host,
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
      'log-calls': logCalls,
      'no-ask': { type: 'boolean', text: 'ask nothing in the place of a client that cannot be asked; adds no tool' },
      log,
      help,
    },
    examples: [
      { line: 'parley wrap -- npx -y @modelcontextprotocol/server-everything', does: 'a server that is a command' },
      { line: "parley wrap https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'", does: 'one with a URL' },
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
      stdio: { type: 'boolean', text: 'serve on stdin and stdout; with --port on both' },
      share,
      'log-calls': logCalls,
      log,
      help,
    },
    words: { file: true },
    examples: [
      { line: 'parley serve', does: 'the configuration that is found' },
      { line: 'parley serve ~/.cursor/mcp.json --port 9000', does: 'the servers of a client you have' },
    ],
  },
  {
    name: 'check',
    summary: 'say everything that is wrong with a configuration, where, and what to do',
    usage: ['[CONFIG] [--print] [--json]', '--schema'],
    options: {
      schema: { type: 'boolean', text: 'print the JSON Schema of configurations, for editors' },
      print: { type: 'boolean', text: 'print the configuration as it is understood, with all defaults' },
      json: { ...json, text: 'print the problems as JSON' },
      help,
    },
    words: { file: true },
    examples: [{ line: 'parley check parley.config.yaml', does: 'exit status 1 when something is wrong' }],
  },
  {
    name: 'ls',
    summary: 'what is offered: tools, resources, prompts, servers',
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
    summary: 'call one tool; answers on the terminal what the tool asks',
    usage: ['TOOL [--arg K=V …] [JSON] [options]', 'TOOL [--arg K=V …] [JSON] [options] -- COMMAND [ARGS…]'],
    about: WHOM,
    options: {
      arg: {
        type: 'string',
        value: 'K=V',
        text: 'an argument; may be repeated. Numbers and the like are read as the tool wants them',
        multiple: true,
      },
      yes: { type: 'boolean', short: 'y', text: 'approve what the tool asks, with its defaults, without asking you' },
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
    summary: 'play a flow of yours on the terminal',
    usage: ['FILE [--flow NAME] [--arg K=V …] [--answers FILE] [--json]'],
    about: [
      'Asks what the flow asks, one question after the other. Esc goes back to an earlier question, or cancels. Nothing is',
      'kept: the next run starts over. Where nobody can type, the answers come from --answers.',
    ],
    options: {
      flow: { type: 'string', value: 'NAME', text: 'which one, where the file has several' },
      arg: {
        type: 'string',
        value: 'K=V',
        text: 'an argument, which is not asked for; may be repeated',
        multiple: true,
      },
      answers: { type: 'string', value: 'FILE', text: 'a JSON object with answers by the names of the questions' },
      json: { ...json, text: 'print the result as JSON' },
      help,
    },
    words: { file: true },
    examples: [
      { line: 'parley run trip.ts', does: 'arrow keys, with what is wrong told at once' },
      { line: 'parley run trip.ts --arg city=Oslo --answers rest.json', does: 'nothing is asked' },
    ],
  },
  {
    name: 'explore',
    summary: 'find the questions of your flows, so that clients can give the answers as arguments',
    usage: ['FILE [--out FILE] [--check]'],
    about: [
      'Runs the flows of the file with made-up answers, in a process that can reach nothing: no file, no network, no other',
      'process, no timer. It stops at every consent and at the first thing that reaches out, and says where. What it finds is',
      'written beside the file, for the option "explored" of serveFlows.',
    ],
    options: {
      out: { type: 'string', value: 'FILE', text: 'where to write it (default: FILE with .explored.json at its end)' },
      check: { type: 'boolean', text: 'write nothing; exit status 1 where the file is missing or no longer right' },
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
      'Looks into the store of a server, which may be running or not. ID is the id of a session or the beginning of one. What',
      'is asked for is left in the store and done within seconds by the server that serves the flow; with --code it is done',
      'here. "replay" runs open sessions against new code, without a step and without writing anything.',
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
        text: 'a file that exports flows, and their serveFlows options as "options": does here what is asked for',
      },
      config: { type: 'string', value: 'FILE', text: 'a configuration whose "flows" has store and keys' },
      prefix: { type: 'string', value: 'P', text: 'of the keys of a Redis store (default parley:flow)' },
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
        text: 'only those of this user, by name or by the owner that "show" tells; of "answer": the person whose question it is',
      },
      older: { type: 'string', value: 'SPAN', text: 'only those that were started longer ago: 30s, 5m, 2h, 1d' },
      newer: { type: 'string', value: 'SPAN', text: 'only those that were started since then' },
      limit: {
        type: 'string',
        value: 'N',
        text: `how many are listed (default ${DEFAULT_LIST_LIMIT}), the last active first`,
      },
      arg: {
        type: 'string',
        value: 'K=V',
        text: 'an answer, where several questions wait; may be repeated',
        multiple: true,
      },
      reason: { type: 'string', value: 'TEXT', text: 'the reason that the client is given for a cancel' },
      wait: { type: 'string', value: 'S', text: 'seconds to wait for a server (default 15) and its steps (3)' },
      against: { type: 'string', value: 'FILE', text: 'the new code, for "replay"; may be repeated', multiple: true },
      json: { ...json },
      help,
    },
    words: { choices: FLOW_ACTIONS },
    examples: [
      { line: 'parley flows ls --store sqlite:flows.db --state parked', does: 'what cannot go on, and why' },
      { line: 'parley flows show 8xkqLm2p --store redis://localhost', does: 'one session with its journal' },
      {
        line: 'parley flows answer 8xkqLm2p yes --store sqlite:flows.db',
        does: 'the open question; a running server goes on with it',
      },
      {
        line: 'parley flows replay --against trip.ts --store sqlite:flows.db',
        does: 'exit status 1 where a session would be parked',
      },
    ],
  },
  {
    name: 'status',
    summary: 'how each server of the running gateway is, and why one is failing',
    usage: ['[URL|CONFIG] [options]', '[options] -- COMMAND [ARGS…]'],
    about: [
      'Asks the gateway that runs here, or the one at the URL, and starts nothing. A CONFIG or COMMAND that is named is started once,',
      'without a gateway, to see how its servers are.',
    ],
    options: { ...reach, json, log, help },
    words: { file: true },
    examples: [
      { line: 'parley status --json', does: 'for a script' },
      { line: 'parley status ~/.cursor/mcp.json', does: 'whether the servers of a file start, and why one does not' },
    ],
  },
  {
    name: 'demo',
    summary: 'a gateway with a small server behind it, to try a client with',
    usage: ['[--port N] [--host H]', '--stdio'],
    options: {
      port: { ...port, text: `0 takes any free port; without --port the next free one from ${DEFAULT_PORT} on` },
      host,
      stdio: { type: 'boolean', text: 'no port; one JSON-RPC message per line on stdin and stdout' },
      log,
      help,
    },
    examples: [{ line: 'parley demo', does: `http://${DEFAULT_HOST}:${DEFAULT_PORT}/mcp` }],
  },
  {
    name: 'completion',
    summary: 'what your shell needs to complete commands and options',
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
