// `parley key` on the command line.
import { systemClock } from '../../shared/clock.ts';
import type { CommandSpec } from './command-specs.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import { UsageError, none, toSpanMs } from './option-values.ts';
import type { OptionValue, ParsedArgs } from './option-values.ts';

const KEY_ACTIONS = ['add', 'ls', 'rm'] as const;

const { json, help } = COMMON_OPTIONS;

/** Makes, lists and removes API keys. */
export interface KeyCommand {
  name: 'key';
  action: (typeof KEY_ACTIONS)[number];
  /** The name of the key. */
  key: string | undefined;
  user: string | undefined;
  scopes: string[];
  groups: string[];
  /** ISO 8601. */
  expires: string | undefined;
  /** Default: the file in the state folder. */
  file: string | undefined;
  json: boolean;
}

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

export function toKeyCommand({ values, words }: ParsedArgs): KeyCommand {
  const [action, key, ...more] = words;
  const known = KEY_ACTIONS.find((one) => one === action);
  if (!known) throw new UsageError(`Say what to do: ${KEY_ACTIONS.join(', ')}.`);
  if (known !== 'ls' && key === undefined) throw new UsageError('Name the key.');
  if (known === 'ls') none(words.slice(1), 'key ls');
  if (more.length > 0)
    throw new UsageError(`Unexpected words "${more.join(' ')}": a key has one name, without spaces.`);
  if (key !== undefined && !/^[\w.@+-]{1,100}$/.test(key))
    throw new UsageError(`"${key}" cannot be the name of a key: use letters, digits and . _ @ + -`);
  return {
    name: 'key',
    action: known,
    key,
    user: values['user'] as string | undefined,
    scopes: (values['scope'] ?? []) as string[],
    groups: (values['group'] ?? []) as string[],
    expires: toExpiry(values['expires']),
    file: values['file'] as string | undefined,
    json: values['json'] === true,
  };
}

function toExpiry(given: OptionValue): string | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const at = /^\d+[smhd]$/.test(text) ? systemClock.now() + toSpanMs(text, '--expires')! : Date.parse(text);
  if (Number.isNaN(at)) throw new UsageError('--expires must be a span such as 90d, or a date (YYYY-MM-DD).');
  if (at <= systemClock.now()) throw new UsageError(`--expires ${text} is in the past: the key would never work.`);
  return new Date(at).toISOString();
}
