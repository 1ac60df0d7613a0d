// The command line as a typed command. Never throws and never prints: what cannot be understood is a command too.
import { parseArgs } from 'node:util';

export interface DemoCommand {
  name: 'demo';
  /** Undefined: the default one, or the next that is free. */
  port: number | undefined;
  host: string;
  stdio: boolean;
}

export type Command = DemoCommand | { name: 'help' | 'version' } | { name: 'mistake'; reason: string };

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  port: { type: 'string' },
  host: { type: 'string' },
  stdio: { type: 'boolean' },
} as const;

const COMMANDS = ['demo'];

export function readArgs(argv: string[]): Command {
  let parsed;
  try {
    parsed = parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
  } catch (thrown) {
    return mistake(firstSentence((thrown as Error).message));
  }
  const { values, positionals } = parsed;
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const [word, ...rest] = positionals;
  if (word === undefined) return mistake('No command was given.');
  if (!COMMANDS.includes(word)) return mistake(`Unknown command "${word}".`);
  if (rest.length > 0) return mistake(`"${word}" takes no further words, but "${rest.join(' ')}" was given.`);
  return toDemo(values);
}

function toDemo(values: { port?: string; host?: string; stdio?: boolean }): Command {
  const { port, host, stdio = false } = values;
  if (stdio && (port !== undefined || host !== undefined)) {
    return mistake('--stdio listens on no port: leave out --port and --host, or leave out --stdio.');
  }
  if (port !== undefined && !isPort(port)) return mistake(`--port must be a number from 0 to 65535, not "${port}".`);
  if (host === '') return mistake('--host must be an address or a host name, such as 127.0.0.1.');
  return { name: 'demo', port: port === undefined ? undefined : Number(port), host: host ?? '127.0.0.1', stdio };
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

function mistake(reason: string): Command {
  return { name: 'mistake', reason };
}

/** Node's own message goes on to explain `--`, which nobody needs here. */
function firstSentence(message: string): string {
  const [first = message] = message.split('\n')[0]!.split('. ');
  return first.endsWith('.') ? first : `${first}.`;
}
