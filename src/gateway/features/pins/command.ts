// What can be typed for `parley pins`.
import { defineFeatureCommand, refuse } from '../../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option } from '../../../kernel/command/option.ts';

const { choice, flag, text } = option;
const ACTIONS = ['ls', 'diff', 'accept'] as const;

/** Of `parley wrap`. */
export const wrapPins = choice(
  'WHAT',
  ['destructive', 'flag', 'hold', 'off'],
  'what is held back if it changes after it was first seen: destructive (default), hold (all), flag (nothing), off',
);

export const pinsCommand = defineFeatureCommand({
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
    json: COMMON.json,
  },
  words: { choices: ACTIONS },
  examples: {
    'parley pins diff github': 'what has changed, word by word',
    'parley pins accept github__create_issue': 'one tool, after a look at it',
  },
  read({ options: { all: isAll, yes: isSure, ...options }, words }) {
    const [word = 'ls', what, ...more] = words;
    const action = ACTIONS.find((one) => one === word);
    if (!action) throw new UsageError(`"${word}" is not one of ${ACTIONS.join(', ')}.`);
    refuse(action === 'ls' ? words.slice(1) : more);
    if (action === 'accept' && (what === undefined) !== isAll)
      throw new UsageError('Say what to accept: a server, one of its tools as server__tool, or --all.');
    return { action, what, isSure, ...options };
  },
  run: async (command, tools) => (await import('./run-pins.ts')).runPins(command, tools),
});
