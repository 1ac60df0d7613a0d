// `parley pins` on the command line.
import type { CommandSpec } from './command-specs.ts';
import { COMMON_OPTIONS } from './option-specs.ts';
import { UsageError } from './option-values.ts';
import type { ParsedArgs } from './option-values.ts';

const { json, help } = COMMON_OPTIONS;
const ACTIONS = ['ls', 'diff', 'accept'] as const;

/** Shows and accepts what servers have changed. */
export interface PinsCommand {
  name: 'pins';
  action: 'ls' | 'diff' | 'accept';
  /** A server, or `server__tool`. Undefined: everything. */
  what: string | undefined;
  config: string | undefined;
  isSure: boolean;
  json: boolean;
}

export const PINS_SPEC: CommandSpec = {
  name: 'pins',
  summary: 'see what servers have changed since you first used them, and accept it',
  usage: ['[ls] [--json]', 'diff [SERVER|SERVER__TOOL]', 'accept SERVER|SERVER__TOOL|--all [--yes]'],
  about: [
    'A gateway keeps what each server listed when it was first used. What is changed, new or removed since then waits here. "accept" shows',
    'it, asks, and takes it as it was shown; a running gateway notices at once.',
  ],
  options: {
    all: { type: 'boolean', text: 'accept: everything of all servers' },
    yes: { type: 'boolean', text: 'accept: do not ask' },
    config: { type: 'string', value: 'FILE', text: 'only the gateway that serves this configuration' },
    json,
    help,
  },
  words: { choices: ACTIONS },
  examples: [
    { line: 'parley pins diff github', does: 'what has changed, word by word' },
    { line: 'parley pins accept github__create_issue', does: 'one tool, after a look at it' },
  ],
};

export function toPins({ values, words }: ParsedArgs): PinsCommand {
  const [action = 'ls', name, ...more] = words;
  if (!isAction(action)) throw new UsageError(`"${action}" is not one of ${ACTIONS.join(', ')}.`);
  const isAll = values['all'] === true;
  const tooMuch = action === 'ls' ? words.slice(1) : more;
  if (tooMuch.length > 0) throw new UsageError(`Unexpected words "${tooMuch.join(' ')}".`);
  if (action === 'accept' && (name === undefined) !== isAll)
    throw new UsageError('Say what to accept: a server, one of its tools as server__tool, or --all.');
  const config = values['config'] as string | undefined;
  return { name: 'pins', action, what: name, config, isSure: values['yes'] === true, json: values['json'] === true };
}

function isAction(word: string): word is PinsCommand['action'] {
  return ACTIONS.includes(word as PinsCommand['action']);
}
