// What can be typed for `parley open`.
import { defineFeatureCommand, none } from '../../../kernel/command/command-spec.ts';
import { COMMON, option } from '../../../kernel/command/option.ts';

export const openCommand = defineFeatureCommand({
  name: 'open',
  summary: 'open the console of your gateway in a browser',
  usage: ['[--print] [--config FILE]'],
  about: [
    'The link works once, for ten minutes. The browser is then paired: it sees what your gateway does, and may answer approvals, until you',
    'remove it with "parley pair rm".',
  ],
  options: {
    print: option.flag('print the link and open nothing'),
    config: option.text('FILE', 'the gateway that serves this configuration'),
    pid: COMMON.pid,
  },
  examples: {
    'parley open': 'servers, calls and waiting approvals of the gateway that runs here',
    'parley open --print': 'a link for a browser on this machine that you open yourself',
  },
  read({ options, words }) {
    none(words, 'open');
    return { ...options };
  },
  run: async (command, tools) => (await import('./run-open.ts')).runOpen(command, tools),
});
