// What can be typed for `parley pair`.
import { defineFeatureCommand, refuse } from '../../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option } from '../../../kernel/command/option.ts';

const { text } = option;
const { json, pid } = COMMON;
const ACTIONS = ['ls', 'rm'] as const;

export const pairCommand = defineFeatureCommand({
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
  words: { choices: ACTIONS },
  examples: {
    'parley pair': 'prints a code, and opens the page if there is a screen',
    'parley pair --user alice': 'for what the clients of this user call, who has an API key',
    "parley pair --user 'https://login.example.com#alice'": 'the same, for a login at this issuer',
    'parley pair rm firefox-3k9x': 'that browser may answer nothing any more',
  },
  read({ options, words }) {
    const [word, browser, ...more] = words;
    const action = ACTIONS.find((one) => one === word);
    if (word !== action)
      throw new UsageError(`"${word}" is not known here. To pair a browser, add nothing; else: ls, rm NAME.`);
    if (action === 'rm' && browser === undefined) throw new UsageError('Name the browser: parley pair ls shows them.');
    refuse(action === 'rm' ? more : words.slice(1));
    return { action: action ?? ('add' as const), browser, ...options };
  },
  run: async (command, tools) => (await import('./run-pair.ts')).runPair(command, tools),
});
