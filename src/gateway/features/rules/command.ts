// What can be typed for `parley policy`.
import { defineFeatureCommand, toAction } from '../../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option } from '../../../kernel/command/option.ts';

const { text } = option;

export const policyCommand = defineFeatureCommand({
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
    json: COMMON.json,
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
  run: async (command, tools) => (await import('./run-policy.ts')).runPolicy(command, tools),
});
