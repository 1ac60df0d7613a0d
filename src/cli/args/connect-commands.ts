// What can be typed for the commands that put Parley into clients, and look whether all is well: `connect`.
import { clientTable } from '../../config/client-table.ts';
import { defineCommand } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand } from '../../kernel/command/command-spec.ts';
import { UsageError, option } from '../../kernel/command/option.ts';
import { suggest } from '../../kernel/text/suggest.ts';

const { flag } = option;

export type ConnectCommand = ParsedCommand<typeof CONNECT>;

export const CONNECT = defineCommand({
  name: 'connect',
  summary: 'let your clients start Parley, with the servers that they have now',
  usage: ['[CLIENT…] [--dry-run] [--yes]', '--undo [CLIENT…]'],
  about: [
    'Moves the servers of your clients to your own configuration, and puts Parley in their place. Shows every change first. A client',
    'is a name such as cursor, claude-code or vscode; without one, all clients that have a file here.',
  ],
  options: {
    undo: flag('give every file the bytes that it had'),
    'dry-run': flag('show what would change, and change nothing'),
    yes: flag('do not ask', 'y'),
  },
  words: { file: false },
  examples: {
    'parley connect --dry-run': 'what would change',
    'parley connect cursor claude-code': 'these two',
    'parley connect --undo': 'everything as it was',
  },
  read({ options: { undo: isUndo, 'dry-run': isDryRun, yes: isSure }, words: clients }) {
    const known = clients.length === 0 ? [] : clientTable().map(({ id }) => id);
    for (const word of clients) {
      if (known.includes(word)) continue;
      const meant = suggest(word, known);
      throw new UsageError(
        `"${word}" is not a client that Parley knows.${meant === undefined ? '' : ` Did you mean "${meant}"?`} It knows ${known.join(', ')}.`,
      );
    }
    return { clients: [...new Set(clients)], isUndo, isDryRun, isSure };
  },
});
