// Reads the words and options of `parley pair`.
import type { PairCommand } from '../command.ts';
import { UsageError } from '../option-values.ts';
import type { OptionValue, ParsedArgs } from '../option-values.ts';

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

function toPid(given: OptionValue): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d*$/.test(String(given))) return Number(given);
  throw new UsageError(`--pid must be the number of a process, not "${String(given)}".`);
}
