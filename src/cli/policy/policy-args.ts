// Reads the words and options of `parley policy`.
import type { PolicyCommand } from '../command.ts';
import { UsageError } from '../option-values.ts';
import type { ParsedArgs } from '../option-values.ts';

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
