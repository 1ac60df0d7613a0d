// What can be typed for `login`, `logout` and `logins`, and the options of a login that `wrap` has, too.
import type { LoginOptions } from '../../mcp/connect/accounts/login-options.ts';
import { defineCommand, none } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand, ValuesOf } from '../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option } from '../../kernel/command/option.ts';

const { flag, text, texts } = option;
export type LoginCommand = ParsedCommand<typeof LOGIN>;
export type LogoutCommand = ParsedCommand<typeof LOGOUT>;

/** For a URL; a file has them as "auth". */
export const LOGIN_OPTIONS = {
  'client-id': text('ID', 'for a URL: a client that you registered at its login by hand'),
  'client-secret': text('NAME', 'the variable that has the secret of that client'),
  scope: texts('S', 'a scope to ask for, if the server names none; may be repeated'),
};

const config = text('FILE', 'the configuration that has the server');

export const LOGIN = defineCommand({
  name: 'login',
  summary: 'log in at a server with your browser, for all your commands and gateways',
  usage: ['SERVER|URL [options]'],
  about: [
    'Opens the page in your browser ($BROWSER, or "none" to only print the link) and waits until you are back. Tokens are kept',
    'encrypted in your state folder and renewed. "wrap" does this by itself at the first refusal.',
  ],
  options: { config, ...LOGIN_OPTIONS, again: flag('log in although you are logged in, as with another account') },
  examples: {
    'parley login https://example.com/mcp': 'then: parley wrap https://example.com/mcp',
    'parley login linear': 'a server of your configuration',
  },
  read: ({ options, words }) => ({ ...toLoginServer(words, options), config: options.config, isAgain: options.again }),
});

export const LOGOUT = defineCommand({
  name: 'logout',
  summary: 'end a login: tokens are revoked where that is possible, and deleted',
  usage: ['SERVER|URL [options]'],
  options: { config, 'client-id': LOGIN_OPTIONS['client-id'] },
  examples: { 'parley logout linear': 'a server of your configuration' },
  read: ({ options, words }) => ({ ...toLoginServer(words, options), config: options.config }),
});

export const LOGINS = defineCommand({
  name: 'logins',
  summary: 'list where you are logged in, until when, and for what',
  usage: ['[--json]'],
  options: { json: COMMON.json },
  examples: { 'parley logins --json': 'for a script; without tokens' },
  read({ options, words }) {
    none(words, 'logins');
    return options;
  },
});

type LoginValues = Partial<ValuesOf<typeof LOGIN_OPTIONS>>;

/** A URL with its options, or the name of a server of the configuration. */
function toLoginServer([server, ...rest]: string[], values: LoginValues) {
  if (server === undefined) throw new UsageError('Give the URL of the server, or its name in your configuration.');
  if (rest.length > 0) throw new UsageError(`Unexpected words "${rest.join(' ')}": give one URL or name.`);
  const login = toLoginOptions(values);
  if (login !== undefined && !/^https?:\/\//i.test(server)) {
    throw new UsageError('--client-id, --client-secret and --scope are for a URL; a file has them as "auth".');
  }
  return { server, login };
}

/** Undefined if there are none. */
export function toLoginOptions(values: LoginValues): LoginOptions | undefined {
  const { 'client-id': clientId, 'client-secret': variable, scope: scopes = [] } = values;
  if (clientId === undefined && variable === undefined && scopes.length === 0) return undefined;
  return {
    ...(clientId !== undefined && { clientId }),
    ...(variable !== undefined && { clientSecret: toSecret(variable) }),
    ...(scopes.length > 0 && { scopes }),
  };
}

/** From a variable, as a secret itself would appear in the process list. */
function toSecret(name: string): string {
  const secret = /^[A-Za-z_]\w*$/.test(name) ? process.env[name] : undefined;
  if (secret !== undefined) return secret;
  throw new UsageError('--client-secret takes the name of an environment variable that is set, not the secret itself.');
}
