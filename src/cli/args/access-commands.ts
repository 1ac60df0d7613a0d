// What can be typed for the commands that say who and what may do something: `key`, `pair`, `trust`, `pins`, `policy`.
import { systemClock } from '../../kernel/base/clock.ts';
import { defineCommand, none, toAction } from './command-spec.ts';
import type { ParsedCommand } from './command-spec.ts';
import { COMMON, UsageError, option, toSpanMs } from './option.ts';

const { checked, flag, text, texts } = option;
const KEY_ACTIONS = ['add', 'ls', 'rm'] as const;
const PIN_ACTIONS = ['ls', 'diff', 'accept'] as const;
const { json, pid } = COMMON;

export type KeyCommand = ParsedCommand<typeof KEY>;
export type PairCommand = ParsedCommand<typeof PAIR>;
export type TrustCommand = ParsedCommand<typeof TRUST>;
export type PinsCommand = ParsedCommand<typeof PINS>;
export type PolicyCommand = ParsedCommand<typeof POLICY>;

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

export const PAIR = defineCommand({
  name: 'pair',
  summary: 'pair a browser with your gateway, so that you can approve there what a model wants to do',
  usage: ['[--user U] [--config FILE] [--json]', 'ls [--json]', 'rm NAME'],
  about: [
    'Shows a code that works once, for ten minutes. Enter it on the page of the gateway; from then on that browser may answer',
    'approvals and questions that only a person may answer. A browser that is removed stops working at once.',
  ],
  options: {
    user: text(
      'U',
      'where users log in: whose questions the browser may answer; ISSUER#SUB, or the user of an API key',
    ),
    config: text('FILE', 'the gateway that serves this configuration'),
    pid,
    json,
  },
  words: { choices: ['ls', 'rm'] },
  examples: {
    'parley pair': 'prints a code, and opens the page if there is a screen',
    'parley pair --user alice': 'for what the clients of this user call, who has an API key',
    "parley pair --user 'https://login.example.com#alice'": 'the same, for a login at this issuer',
    'parley pair rm firefox-3k9x': 'that browser may answer nothing any more',
  },
  read({ options, words }) {
    const [action, browser, ...more] = words;
    if (action !== undefined && action !== 'ls' && action !== 'rm')
      throw new UsageError(`"${action}" is not known here. To pair a browser, add nothing; else: ls, rm NAME.`);
    if (action === 'rm' && browser === undefined) throw new UsageError('Name the browser: parley pair ls shows them.');
    refuse(action === 'rm' ? more : words.slice(1));
    return { action: action ?? 'add', browser, ...options };
  },
});

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

export const PINS = defineCommand({
  name: 'pins',
  summary: 'see what servers have changed since you first used them, and accept it',
  usage: ['[ls] [--json]', 'diff [SERVER|SERVER__TOOL]', 'accept SERVER|SERVER__TOOL|--all [--yes]'],
  about: [
    'A gateway keeps what each server listed when it was first used. What is changed, new or removed since then waits here. "accept" shows',
    'it, asks, and takes it as it was shown; a running gateway notices at once.',
  ],
  options: {
    all: flag('accept: everything of all servers'),
    yes: flag('accept: do not ask'),
    config: text('FILE', 'only the gateway that serves this configuration'),
    json,
  },
  words: { choices: PIN_ACTIONS },
  examples: {
    'parley pins diff github': 'what has changed, word by word',
    'parley pins accept github__create_issue': 'one tool, after a look at it',
  },
  read({ options: { all: isAll, yes: isSure, ...options }, words }) {
    const [word = 'ls', what, ...more] = words;
    const action = PIN_ACTIONS.find((one) => one === word);
    if (!action) throw new UsageError(`"${word}" is not one of ${PIN_ACTIONS.join(', ')}.`);
    refuse(action === 'ls' ? words.slice(1) : more);
    if (action === 'accept' && (what === undefined) !== isAll)
      throw new UsageError('Say what to accept: a server, one of its tools as server__tool, or --all.');
    return { action, what, isSure, ...options };
  },
});

export const POLICY = defineCommand({
  name: 'policy',
  summary: 'try the rules of a configuration on the calls of the audit log',
  usage: ['test [--config FILE] [--log FILE]'],
  about: [
    'Shows which calls of the past the rules would treat in another way. The log has no arguments, groups, scopes and annotations;',
    'calls that depend on them are listed, too. Nothing is called.',
  ],
  options: {
    config: text('FILE', 'the configuration with the new rules (default: the one found here)'),
    log: text('FILE', 'a file of the audit log, or its folder (default: the one in your state folder)'),
    json,
  },
  examples: {
    'parley policy test': 'the rules of this folder on all calls that were recorded',
    'parley policy test --config new.jsonc --json': 'for a script',
  },
  read({ options, words: [word, ...more] }) {
    toAction(word, ['test']);
    if (more.length > 0)
      throw new UsageError(`Unexpected words "${more.join(' ')}"; name files with --config and --log.`);
    return options;
  },
});

function refuse(words: string[]): void {
  if (words.length > 0) throw new UsageError(`Unexpected words "${words.join(' ')}".`);
}
