// The row of the table of commands for `parley pair`.
import type { CommandSpec } from '../command-specs.ts';
import { COMMON_OPTIONS } from '../option-specs.ts';

const { json, help, pid } = COMMON_OPTIONS;

const PAIR_ACTIONS = ['ls', 'rm'] as const;

export const PAIR_SPECS: readonly CommandSpec[] = [
  {
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
  },
];
