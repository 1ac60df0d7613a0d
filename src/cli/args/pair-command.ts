// `parley pair` on the command line.
import type { CommandSpec } from './command-specs.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import { UsageError, toPid } from './option-values.ts';
import type { ParsedArgs } from './option-values.ts';

/** Pairs browsers with a gateway, lists and removes them. */
export interface PairCommand {
  name: 'pair';
  action: 'add' | 'ls' | 'rm';
  /** The name of the browser to remove. */
  browser: string | undefined;
  user: string | undefined;
  config: string | undefined;
  pid: number | undefined;
  json: boolean;
}

const { json, help, pid } = COMMON_OPTIONS;

const PAIR_ACTIONS = ['ls', 'rm'] as const;

export const PAIR_SPEC: CommandSpec = {
  name: 'pair',
  summary: 'pair a browser with your gateway, so that you can approve there what a model wants to do',
  usage: ['[--user U] [--config FILE] [--json]', 'ls [--json]', 'rm NAME'],
  about: [
    'Shows a code that works once, for ten minutes. Enter it on the page of the gateway; from then on that browser may answer',
    'approvals and questions that only a person may answer. A browser that is removed stops working at once.',
  ],
  options: {
    user: {
      type: 'string',
      value: 'U',
      text: 'where users log in: whose questions the browser may answer; ISSUER#SUB, or the user of an API key',
    },
    config: { type: 'string', value: 'FILE', text: 'the gateway that serves this configuration' },
    pid,
    json,
    help,
  },
  words: { choices: PAIR_ACTIONS },
  examples: [
    { line: 'parley pair', does: 'prints a code, and opens the page if there is a screen' },
    { line: 'parley pair --user alice', does: 'for what the clients of this user call, who has an API key' },
    { line: "parley pair --user 'https://login.example.com#alice'", does: 'the same, for a login at this issuer' },
    { line: 'parley pair rm firefox-3k9x', does: 'that browser may answer nothing any more' },
  ],
};

export function toPairCommand({ values, words }: ParsedArgs): PairCommand {
  const [action, browser, ...more] = words;
  if (action !== undefined && action !== 'ls' && action !== 'rm')
    throw new UsageError(`"${action}" is not known here. To pair a browser, add nothing; else: ls, rm NAME.`);
  if (action === 'rm' && browser === undefined) throw new UsageError('Name the browser: parley pair ls shows them.');
  const tooMuch = action === 'rm' ? more : words.slice(1);
  if (tooMuch.length > 0) throw new UsageError(`Unexpected words "${tooMuch.join(' ')}".`);
  return {
    name: 'pair',
    action: action ?? 'add',
    browser,
    user: values['user'] as string | undefined,
    config: values['config'] as string | undefined,
    pid: toPid(values['pid']),
    json: values['json'] === true,
  };
}
