// `parley login`, `logout` and `logins` on the command line, and the options of a login in `wrap`.
import type { LoginOptions } from '../../gateway/upstream/login/server-login.ts';
import type { CommandSpec } from './command-specs.ts';
import type { RunnableCommand } from './command.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import type { OptionSpec } from './option-specs.ts';
import { UsageError, none } from './option-values.ts';
import type { ParsedArgs } from './option-values.ts';

export interface LoginCommand {
  name: 'login' | 'logout';
  /** A URL, or the name of a server of the configuration. */
  server: string;
  config: string | undefined;
  login: LoginOptions | undefined;
  /** Log in although there is a login. */
  isAgain: boolean;
}

const { json, help } = COMMON_OPTIONS;

/** For a URL; a file has them as "auth". */
export const LOGIN_OPTIONS: Record<string, OptionSpec> = {
  'client-id': { type: 'string', value: 'ID', text: 'for a URL: a client that you registered at its login by hand' },
  'client-secret': { type: 'string', value: 'NAME', text: 'the variable that has the secret of that client' },
  scope: {
    type: 'string',
    value: 'S',
    text: 'a scope to ask for, if the server names none; may be repeated',
    multiple: true,
  },
};

const config: OptionSpec = { type: 'string', value: 'FILE', text: 'the configuration that has the server' };

export const LOGIN_SPECS: readonly CommandSpec[] = [
  {
    name: 'login',
    summary: 'log in at a server with your browser, for all your commands and gateways',
    usage: ['SERVER|URL [options]'],
    about: [
      'Opens the page in your browser ($BROWSER, or "none" to only print the link) and waits until you are back. Tokens are kept',
      'encrypted in your state folder and renewed. "wrap" does this by itself at the first refusal.',
    ],
    options: {
      config,
      ...LOGIN_OPTIONS,
      again: { type: 'boolean', text: 'log in although you are logged in, as with another account' },
      help,
    },
    examples: [
      { line: 'parley login https://example.com/mcp', does: 'then: parley wrap https://example.com/mcp' },
      { line: 'parley login linear', does: 'a server of your configuration' },
    ],
  },
  {
    name: 'logout',
    summary: 'end a login: tokens are revoked where that is possible, and deleted',
    usage: ['SERVER|URL [options]'],
    options: { config, 'client-id': LOGIN_OPTIONS['client-id']!, help },
    examples: [{ line: 'parley logout linear', does: 'a server of your configuration' }],
  },
  {
    name: 'logins',
    summary: 'list where you are logged in, until when, and for what',
    usage: ['[--json]'],
    options: { json, help },
    examples: [{ line: 'parley logins --json', does: 'for a script; without tokens' }],
  },
];

export function toLogin(given: ParsedArgs): RunnableCommand {
  return { ...toLoginCommand(given, 'login'), isAgain: given.values['again'] === true };
}

export function toLogout(given: ParsedArgs): RunnableCommand {
  return toLoginCommand(given, 'logout');
}

export function toLogins({ values, words }: ParsedArgs): RunnableCommand {
  none(words, 'logins');
  return { name: 'logins', json: values['json'] === true };
}

function toLoginCommand({ values, words }: ParsedArgs, name: 'login' | 'logout') {
  const [server, ...rest] = words;
  if (server === undefined) throw new UsageError('Give the URL of the server, or its name in your configuration.');
  if (rest.length > 0) throw new UsageError(`Unexpected words "${rest.join(' ')}": give one URL or name.`);
  const login = toLoginOptions(values);
  if (login !== undefined && !/^https?:\/\//i.test(server)) {
    throw new UsageError('--client-id, --client-secret and --scope are for a URL; a file has them as "auth".');
  }
  return { name, server, config: values['config'] as string | undefined, login, isAgain: false };
}

/** Undefined if there are none. */
export function toLoginOptions(values: ParsedArgs['values']): LoginOptions | undefined {
  const { 'client-id': clientId, 'client-secret': variable, scope: scopes } = values;
  if (clientId === undefined && variable === undefined && scopes === undefined) return undefined;
  return {
    ...(clientId !== undefined && { clientId: String(clientId) }),
    ...(variable !== undefined && { clientSecret: toSecret(String(variable)) }),
    ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
  };
}

/** From a variable, as a secret itself would appear in the process list. */
function toSecret(name: string): string {
  const secret = /^[A-Za-z_]\w*$/.test(name) ? process.env[name] : undefined;
  if (secret !== undefined) return secret;
  throw new UsageError('--client-secret takes the name of an environment variable that is set, not the secret itself.');
}
