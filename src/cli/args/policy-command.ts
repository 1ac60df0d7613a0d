// `parley policy` on the command line.
import type { CommandSpec } from './command-specs.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import { UsageError } from './option-values.ts';
import type { ParsedArgs } from './option-values.ts';

/** Replays the audit log against rules. */
export interface PolicyCommand {
  name: 'policy';
  config: string | undefined;
  /** A file of the audit log, or its folder. */
  log: string | undefined;
  json: boolean;
}

const { json, help } = COMMON_OPTIONS;

export const POLICY_SPEC: CommandSpec = {
  name: 'policy',
  summary: 'try the rules of a configuration on the calls of the audit log',
  usage: ['test [--config FILE] [--log FILE]'],
  about: [
    'Shows which calls of the past the rules would treat in another way. The log has no arguments, groups, scopes and annotations;',
    'calls that depend on them are listed, too. Nothing is called.',
  ],
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      text: 'the configuration with the new rules (default: the one found here)',
    },
    log: {
      type: 'string',
      value: 'FILE',
      text: 'a file of the audit log, or its folder (default: the one in your state folder)',
    },
    json,
    help,
  },
  examples: [
    { line: 'parley policy test', does: 'the rules of this folder on all calls that were recorded' },
    { line: 'parley policy test --config new.jsonc --json', does: 'for a script' },
  ],
};

export function toPolicyCommand({ values, words }: ParsedArgs): PolicyCommand {
  const [action, ...more] = words;
  if (action !== 'test') throw new UsageError('Say what to do: test.');
  if (more.length > 0)
    throw new UsageError(`Unexpected words "${more.join(' ')}"; name files with --config and --log.`);
  return {
    name: 'policy',
    config: values['config'] as string | undefined,
    log: values['log'] as string | undefined,
    json: values['json'] === true,
  };
}
