// The row of the table of commands for `parley key`.
import type { CommandSpec } from '../command-specs.ts';
import { COMMON_OPTIONS } from '../option-specs.ts';

export const KEY_ACTIONS = ['add', 'ls', 'rm'] as const;

const { json, help } = COMMON_OPTIONS;

export const KEY_SPEC: CommandSpec = {
  name: 'key',
  summary: 'make, list and remove the API keys with which clients log in to your gateway',
  usage: ['add NAME [--scope S …] [--user U] [--expires WHEN] [--json]', 'ls [--json]', 'rm NAME'],
  about: [
    'A new key is printed once; the file keeps its hash. "parley serve" asks for a key where "auth" is in the configuration, and',
    'wherever others can reach its port. A removed key stops working at once.',
  ],
  options: {
    scope: {
      type: 'string',
      value: 'S',
      text: 'a scope that it has (default: all but "admin"); may be repeated',
      multiple: true,
    },
    group: { type: 'string', value: 'G', text: 'a group of its user, for steps; may be repeated', multiple: true },
    user: {
      type: 'string',
      value: 'U',
      text: 'who uses it; keys of one user share sessions and questions (default: NAME)',
    },
    expires: {
      type: 'string',
      value: 'WHEN',
      text: 'until when it works: a span such as 90d, or a date (YYYY-MM-DD)',
    },
    file: { type: 'string', value: 'FILE', text: 'the file of the keys (default: in your state folder)' },
    json,
    help,
  },
  words: { choices: KEY_ACTIONS },
  examples: [
    { line: 'parley key add laptop', does: 'prints the key, for the header "Authorization: Bearer KEY"' },
    { line: 'parley key add prometheus --scope admin --expires 365d', does: 'may read /metrics and /status' },
    { line: 'parley key rm laptop', does: 'also ends what it has open' },
  ],
};
