// `parley trust` on the command line.
import type { CommandSpec } from './command-specs.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import { UsageError, none } from './option-values.ts';
import type { ParsedArgs } from './option-values.ts';

export interface TrustCommand {
  name: 'trust';
  action: 'add' | 'ls' | 'rm';
  /** Undefined: the configuration that is found here. */
  file: string | undefined;
  /** Do not ask. */
  isSure: boolean;
}

export const TRUST_SPEC: CommandSpec = {
  name: 'trust',
  summary: 'trust a configuration that is not in your own folders, as it is now',
  usage: ['[CONFIG] [--yes]', 'ls', 'rm CONFIG'],
  about: [
    'Shows what it starts, where it connects, which variables it reads and whose code it runs, and asks. When the file, an env file,',
    'a step, a script that a command starts, or what these import changes, nothing new is started until you trust it again.',
  ],
  options: { yes: { type: 'boolean', text: 'do not ask' }, help: COMMON_OPTIONS.help },
  words: { choices: ['ls', 'rm'], file: true },
  examples: [
    { line: 'parley trust', does: 'the configuration of this folder' },
    { line: 'parley trust rm ~/app/parley.config.jsonc', does: 'it will be asked about again' },
  ],
};

export function toTrust({ values, words }: ParsedArgs): TrustCommand {
  const [first, second, ...more] = words;
  const isSure = values['yes'] === true;
  if (first === 'ls') {
    none(words.slice(1), 'trust ls');
    return { name: 'trust', action: 'ls', file: undefined, isSure };
  }
  if (first === 'rm') {
    if (second === undefined || more.length > 0) throw new UsageError('Name one file: parley trust rm FILE.');
    return { name: 'trust', action: 'rm', file: second, isSure };
  }
  none(words.slice(1), 'trust');
  return { name: 'trust', action: 'add', file: first, isSure };
}
