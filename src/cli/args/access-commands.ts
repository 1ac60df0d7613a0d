// What can be typed for the commands that say who and what may do something: `key` and `trust`.
import { systemClock } from '../../kernel/base/clock.ts';
import { defineCommand, none, toAction } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand } from '../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option, toSpanMs } from '../../kernel/command/option.ts';

const { checked, flag, text, texts } = option;
const KEY_ACTIONS = ['add', 'ls', 'rm'] as const;
const { json } = COMMON;

export type KeyCommand = ParsedCommand<typeof KEY>;
export type TrustCommand = ParsedCommand<typeof TRUST>;

export const KEY = defineCommand({
  name: 'key',
  summary: 'make, list and remove the API keys with which clients log in to your gateway',
  usage: ['add NAME [--scope S …] [--user U] [--expires WHEN] [--json]', 'ls [--json]', 'rm NAME'],
  about: [
    'A new key is printed once; the file keeps its hash. "parley serve" asks for a key where "auth" is in the configuration, and',
    'wherever others can reach its port. A removed key stops working at once.',
  ],
  options: {
    scope: texts('S', 'a scope that it has (default: all but "admin"); may be repeated'),
    group: texts('G', 'a group of its user, for steps; may be repeated'),
    user: text('U', 'who uses it; keys of one user share sessions and questions (default: NAME)'),
    expires: checked('WHEN', 'until when it works: a span such as 90d, or a date (YYYY-MM-DD)', toExpiry),
    file: text('FILE', 'the file of the keys (default: in your state folder)'),
    config: text(
      'FILE',
      'the configuration whose gateways share the keys, if it has a "state" (default: the one here)',
    ),
    json,
  },
  words: { choices: KEY_ACTIONS },
  examples: {
    'parley key add laptop': 'prints the key, for the header "Authorization: Bearer KEY"',
    'parley key add prometheus --scope admin --expires 365d': 'may read /metrics and /status',
    'parley key rm laptop': 'also ends what it has open',
  },
  read({ options: { scope: scopes, group: groups, ...options }, words: [word, key, ...more] }) {
    const action = toAction(word, KEY_ACTIONS);
    if (action !== 'ls' && key === undefined) throw new UsageError('Name the key.');
    if (action === 'ls' && key !== undefined) none([key, ...more], 'key ls');
    if (more.length > 0)
      throw new UsageError(`Unexpected words "${more.join(' ')}": a key has one name, without spaces.`);
    if (key !== undefined && !/^[\w.@+-]{1,100}$/.test(key))
      throw new UsageError(`"${key}" cannot be the name of a key: use letters, digits and . _ @ + -`);
    return { action, key, scopes, groups, ...options };
  },
});

/** ISO 8601. */
function toExpiry(typed: string, name: string): string {
  const at = /^\d+[smhd]$/.test(typed) ? systemClock.now() + toSpanMs(typed, name) : Date.parse(typed);
  if (Number.isNaN(at)) throw new UsageError(`${name} must be a span such as 90d, or a date (YYYY-MM-DD).`);
  if (at <= systemClock.now()) throw new UsageError(`${name} ${typed} is in the past: the key would never work.`);
  return new Date(at).toISOString();
}

export const TRUST = defineCommand({
  name: 'trust',
  summary: 'trust a configuration that is not in your own folders, as it is now',
  usage: ['[CONFIG] [--yes]', 'ls', 'rm CONFIG'],
  about: [
    'Shows what it starts, where it connects, what it reads, whose code it runs and which settings loosen something, and asks. When the file,',
    'a file that it reads, a step, a file that a command names, or what these import changes, nothing new is started until you trust it again.',
  ],
  options: { yes: flag('do not ask') },
  words: { choices: ['ls', 'rm'], file: true },
  examples: {
    'parley trust': 'the configuration of this folder',
    'parley trust rm ~/app/parley.config.jsonc': 'it will be asked about again',
  },
  read({ options: { yes: isSure }, words: [first, ...rest] }) {
    const [file, ...more] = rest;
    if (first === 'rm') {
      if (file === undefined || more.length > 0) throw new UsageError('Name one file: parley trust rm FILE.');
      return { action: 'rm' as const, file, isSure };
    }
    none(rest, first === 'ls' ? 'trust ls' : 'trust');
    if (first === 'ls') return { action: 'ls' as const, file: undefined, isSure };
    return { action: 'add' as const, file: first, isSure };
  },
});
