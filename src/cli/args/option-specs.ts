// The options that several commands have.
import { DEFAULT_HOST, LOG_LEVELS, SHARING } from '../../config/settings.ts';

export interface OptionSpec {
  type: 'string' | 'boolean';
  /** Placeholder for the value in the help; a boolean has none. */
  value?: string;
  text: string;
  short?: string;
  multiple?: boolean;
  choices?: readonly string[];
}

export const COMMON_OPTIONS = {
  port: { type: 'string', value: 'N', text: '0 takes any free port' },
  host: {
    type: 'string',
    value: 'H',
    text: `the address to listen on (default ${DEFAULT_HOST}); anything but loopback needs a login ("parley key add")`,
  },
  open: {
    type: 'boolean',
    text: 'let everybody in who reaches the port, without a token or login: on 127.0.0.1 every program of every user here',
  },
  lines: { type: 'boolean', text: 'print the lines to paste into clients, with the token, and nothing else' },
  log: {
    type: 'string',
    value: 'LEVEL',
    text: `what to log on stderr: ${LOG_LEVELS.join(', ')}`,
    choices: LOG_LEVELS,
  },
  share: {
    type: 'string',
    value: 'HOW',
    text: `how clients share server processes: ${SHARING.join(', ')}; with "all", servers cannot ask them`,
    choices: SHARING,
  },
  url: {
    type: 'string',
    value: 'URL',
    text: 'the gateway or server to connect to; a bare URL works, too',
  },
  header: {
    type: 'string',
    value: 'K:V',
    text: 'a header for the URL, may be repeated; ${NAME} is an environment variable',
    multiple: true,
  },
  config: {
    type: 'string',
    value: 'FILE',
    text: 'start the servers of this file, for this command only',
  },
  pid: { type: 'string', value: 'N', text: 'the gateway with this process id, if several run' },
  timeout: {
    type: 'string',
    value: 'S',
    text: 'seconds to wait for an answer (default 60), and for servers to start (default 30, or "startMs" of the file)',
  },
  logCalls: {
    type: 'boolean',
    text: 'one line on stderr for each call: server, tool, duration, outcome; no arguments, no results',
  },
  json: { type: 'boolean', text: 'print JSON' },
  help: { type: 'boolean', short: 'h', text: 'this help' },
} satisfies Record<string, OptionSpec>;
