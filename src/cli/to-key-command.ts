// Reads the words and options of `parley key`.
import { systemClock } from '../shared/clock.ts';
import type { KeyCommand } from './command.ts';
import { KEY_ACTIONS } from './login/key-spec.ts';
import { UsageError, none, toSpanMs } from './option-values.ts';
import type { OptionValue, ParsedArgs } from './option-values.ts';

export function toKeyCommand({ values, words }: ParsedArgs): KeyCommand {
  const [action, key, ...more] = words;
  const known = KEY_ACTIONS.find((one) => one === action);
  if (!known) throw new UsageError(`Say what to do: ${KEY_ACTIONS.join(', ')}.`);
  if (known !== 'ls' && key === undefined) throw new UsageError('Name the key.');
  if (known === 'ls') none(words.slice(1), 'key ls');
  if (more.length > 0)
    throw new UsageError(`Unexpected words "${more.join(' ')}": a key has one name, without spaces.`);
  if (key !== undefined && !/^[\w.@+-]{1,100}$/.test(key))
    throw new UsageError(`"${key}" cannot be the name of a key: use letters, digits and . _ @ + -`);
  return {
    name: 'key',
    action: known,
    key,
    user: values['user'] as string | undefined,
    scopes: (values['scope'] ?? []) as string[],
    groups: (values['group'] ?? []) as string[],
    expires: toExpiry(values['expires']),
    file: values['file'] as string | undefined,
    json: values['json'] === true,
  };
}

function toExpiry(given: OptionValue): string | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  const at = /^\d+[smhd]$/.test(text) ? systemClock.now() + toSpanMs(text, '--expires')! : Date.parse(text);
  if (Number.isNaN(at)) throw new UsageError('--expires must be a span such as 90d, or a date (YYYY-MM-DD).');
  if (at <= systemClock.now()) throw new UsageError(`--expires ${text} is in the past: the key would never work.`);
  return new Date(at).toISOString();
}
