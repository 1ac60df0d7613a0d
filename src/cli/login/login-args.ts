// Checks the options and words of `login`, `logout` and `logins`, and those of a login in `wrap`.
import type { LoginOptions } from '../../gateway/upstream/login/server-login.ts';
import type { RunnableCommand } from '../command.ts';
import { UsageError } from '../option-values.ts';
import type { ParsedArgs } from '../option-values.ts';

export function toLogin(given: ParsedArgs): RunnableCommand {
  return { ...toLoginCommand(given, 'login'), isAgain: given.values['again'] === true };
}

export function toLogout(given: ParsedArgs): RunnableCommand {
  return toLoginCommand(given, 'logout');
}

export function toLogins({ values, words }: ParsedArgs): RunnableCommand {
  if (words.length > 0) throw new UsageError(`"logins" takes no further words, but "${words.join(' ')}" was given.`);
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
