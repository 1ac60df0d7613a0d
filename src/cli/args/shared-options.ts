// Options of commands that start or reach a server: where to listen, what to log, headers and URLs.
import { DEFAULT_HOST, LOG_LEVELS, SHARING } from '../../config/settings.ts';
import { linksOf, schemesWith } from '../../mcp/connect/url-links.ts';
import { UsageError, option, splitPair } from '../../kernel/command/option.ts';

const { checked, choice, flag, list } = option;

/** The options that several commands have. */
export const SHARED = {
  host: checked(
    'H',
    `the address to listen on (default ${DEFAULT_HOST}); anything but loopback needs a login ("parley key add")`,
    (typed, name) => {
      if (typed !== '') return typed;
      throw new UsageError(`${name} must be an address or a host name, such as 127.0.0.1.`);
    },
  ),
  open: flag(
    'let everybody in who reaches the port, without a token or login: on 127.0.0.1 every program of every user here',
  ),
  log: choice('LEVEL', LOG_LEVELS, `what to log on stderr: ${LOG_LEVELS.join(', ')}`),
  logCalls: flag('one line on stderr for each call: server, tool, duration, outcome; no arguments, no results'),
  share: choice(
    'HOW',
    SHARING,
    `how clients share server processes: ${SHARING.join(', ')}; with "all", servers cannot ask them`,
  ),
  header: list(
    'K:V',
    'a header for the URL, may be repeated; ${NAME} is an environment variable',
    (typed, name): [string, string] => {
      const [key, value] = splitPair(typed, ':', `${name} "Name: value"`);
      return [key.trim(), value.trim()];
    },
  ),
};

/** Fills in `${NAME}`, so that a secret appears in no file and no process list. */
export function fillIn(headers: [string, string][]): Record<string, string> {
  const { env } = process; // environment.ts would load more than `wrap` needs before its first answer
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
      if (env[name] === undefined) throw new UsageError(`--header: the environment variable ${name} is not set.`);
      return env[name];
    });
  return Object.fromEntries(headers.map(([name, text]) => [name, fill(text)]));
}

export function toUrl(typed: string): string {
  if (URL.canParse(typed) && linksOf(new URL(typed).protocol).length > 0) return typed;
  throw new UsageError(`"${typed}" is not a URL: write ${schemesWith('://…')}.`);
}
