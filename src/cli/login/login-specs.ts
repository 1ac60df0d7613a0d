// The rows of the table of commands that are about logins at servers.
import type { CommandSpec } from '../command-specs.ts';
import { COMMON_OPTIONS } from '../option-specs.ts';
import type { OptionSpec } from '../option-specs.ts';

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
