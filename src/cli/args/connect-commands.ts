// What can be typed for the commands that begin with Parley, put it into clients, and look whether all is well: `init`, `connect`,
// `bundle`, `doctor`.
import { clientTable } from '../../config/client-table.ts';
import { defineCommand, only } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand } from '../../kernel/command/command-spec.ts';
import { COMMON, UsageError, option } from '../../kernel/command/option.ts';
import { suggest } from '../../kernel/text/suggest.ts';

const { flag, seconds, text } = option;

export type ConnectCommand = ParsedCommand<typeof CONNECT>;
export type BundleCommand = ParsedCommand<typeof BUNDLE>;
export type DoctorCommand = ParsedCommand<typeof DOCTOR>;
export type InitCommand = ParsedCommand<typeof INIT>;

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

export const BUNDLE = defineCommand({
  name: 'bundle',
  summary: 'write a bundle (.mcpb) that Claude Desktop installs',
  usage: ['[CONFIG] [--name NAME] [--out FILE]', '[--name NAME] [--out FILE] -- COMMAND…'],
  about: [
    'It has Parley with all that it needs. With CONFIG, it serves that file, and asks for its variables when it is installed; with a',
    'command, it wraps that server; else it serves the configuration in the config folder of its user.',
  ],
  options: {
    name: text('NAME', 'how the bundle is called (default parley)'),
    out: text('FILE', 'default: NAME.mcpb in the working folder'),
  },
  words: { file: true },
  takesServer: true,
  examples: {
    'parley bundle': 'for your own configuration, wherever Claude Desktop is installed',
    'parley bundle team.config.jsonc --name team': 'with this configuration in it',
    'parley bundle --name files -- npx -y @modelcontextprotocol/server-filesystem .': 'one server',
  },
  read({ options: { name = 'parley', out }, words, server }) {
    const config = only(words, 'bundle');
    if (server?.length === 0) throw new UsageError('Give the command to wrap after "--".');
    if (server && config !== undefined)
      throw new UsageError('Give a configuration, or a command after "--", not both.');
    if (!/^[\w-]+$/.test(name)) throw new UsageError(`--name takes letters, digits, "-" and "_", not "${name}".`);
    return { config, server, title: name, out };
  },
});

export const DOCTOR = defineCommand({
  name: 'doctor',
  summary: 'look at everything that has to be right, and say what to do',
  usage: ['[CONFIG] [--json] [--timeout S]'],
  about: [
    'Looks at Node, the PATH that desktop applications have, the file that each client really reads, your configuration, its trust, its',
    'logins and packages, the port, the clock, and starts each server once. It changes nothing. Exit status 0: all is well; 1: there',
    'are warnings; 2: something does not work.',
  ],
  options: {
    json: COMMON.json,
    timeout: seconds('seconds that each server may take to start and list its tools (default 15)'),
  },
  words: { file: true },
  examples: {
    'parley doctor': 'the configuration here, or your own',
    'parley doctor --json': 'for a program, or a bug report: it has no secrets',
  },
  read({ options: { timeout: timeoutMs, json }, words }) {
    return { config: only(words, 'doctor'), json, timeoutMs };
  },
});

export const INIT = defineCommand({
  name: 'init',
  summary: 'write a first configuration',
  usage: ['[FILE]'],
  about: ['Without FILE, in your config folder, where it needs no trust. A file that is there stays as it is.'],
  options: {},
  words: { file: true },
  examples: {
    'parley init': 'your own, for all your clients',
    'parley init parley.config.jsonc': 'one for this folder',
  },
  read: ({ words }) => ({ file: only(words, 'init') }),
});
