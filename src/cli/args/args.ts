// Parses the command line into a typed command. Never throws and never prints: a mistake in the command line is a command, too.
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { isServerUrl } from '../../mcp/connect/url-links.ts';
import { hintAt } from '../../kernel/command/command-spec.ts';
import type { CommandSpec, TypedCommand } from '../../kernel/command/command-spec.ts';
import { COMMANDS, findCommand } from './commands.ts';
import type { Command, Mistake, RunnableCommand } from './commands.ts';
import { UsageError } from '../../kernel/command/option.ts';

const VERSION_OPTION = { version: { type: 'boolean', short: 'V' } } as const;
const VERSION = new Set(['-V', '-v', '--version', 'version']);
/** Names that other programs use for the same command. */
const OTHER_WORDS: Record<string, string> = {
  list: 'ls',
  start: 'serve',
  exec: 'call',
  get: 'read',
  validate: 'check',
  install: 'connect',
  add: 'connect',
  adopt: 'connect',
  setup: 'init',
  new: 'init',
  diagnose: 'doctor',
  ps: 'status',
};

export function readArgs(argv: string[]): Command {
  if (VERSION.has(argv[0] ?? '')) return { name: 'version' };
  const at = findCommandWord(argv);
  const word = argv[at];
  if (word === undefined) return readWithoutCommand(argv);
  const rest = argv.toSpliced(at, 1);
  if (word === 'help') return toHelp(rest);
  const spec = findCommand(word);
  if (!spec) return { ...mistake(unknown(word)), isBrief: true };
  return attempt(spec, () => (word === 'wrap' ? readWrap(spec, rest) : read(spec, rest)));
}

/** Where the command is named: at the beginning, or after options. */
function findCommandWord(argv: string[]): number {
  if (argv[0]?.startsWith('-') === false) return 0; // parsing all options takes a millisecond
  return parseAny(argv).tokens.find(({ kind }) => kind === 'positional')?.index ?? argv.length;
}

function readWithoutCommand(argv: string[]): Command {
  const { values } = parseAny(argv);
  if (values['help']) return { name: 'help', of: undefined };
  if (values['version']) return { name: 'version' };
  const known = ['version', ...COMMANDS.flatMap((spec) => Object.keys(spec.options))];
  const wrong = Object.keys(values).find((name) => !known.includes(name));
  if (wrong === undefined) return mistake('No command was given.');
  return { ...mistake(`Unknown option "--${wrong}".${hintAt(wrong, known, '--')}`), isBrief: true };
}

/** Before the command is known. An option has the same type in every command. */
function parseAny(args: string[]) {
  const options: ParseArgsConfig['options'] = Object.assign(
    {},
    ...COMMANDS.map((spec) => spec.options),
    VERSION_OPTION,
  );
  return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
}

function attempt(spec: CommandSpec, work: () => Command): Command {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof UsageError) return mistake(thrown.message, spec.name);
    return mistake(firstSentence((thrown as Error).message) + meantOption(thrown as Error, spec), spec.name); // thrown by parseArgs
  }
}

function toHelp([of]: string[]): Command {
  if (of !== undefined && !findCommand(of)) return mistake(unknown(of));
  return { name: 'help', of };
}

function read(spec: CommandSpec, args: string[]): Command {
  const before = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const asksHelp = before.some((arg) => arg === '--help' || arg === '-h');
  if (asksHelp && !(spec.helpsWithWord && hasWord(spec, before))) return { name: 'help', of: spec.name };
  const end = spec.takesServer ? args.indexOf('--') : -1;
  const server = end === -1 ? undefined : args.slice(end + 1);
  const { values, positionals } = parse(spec, end === -1 ? args : args.slice(0, end));
  return values['version'] ? { name: 'version' } : toCommand(spec, { values, words: positionals, server });
}

function hasWord({ options }: CommandSpec, args: string[]): boolean {
  return parseArgs({ args, options, strict: false, allowPositionals: true }).positionals.length > 0;
}

function toCommand(spec: CommandSpec, typed: TypedCommand): Command {
  return { name: spec.name, ...spec.read(typed) } as RunnableCommand;
}

function unknown(word: string): string {
  const names = COMMANDS.map(({ name }) => name);
  const meant = OTHER_WORDS[word];
  return `Unknown command "${word}".${meant === undefined ? hintAt(word, names) : ` Did you mean "${meant}"?`}`;
}

/** The options of `wrap` come before the wrapped command; everything after it belongs to that command. A URL takes no arguments. */
function readWrap(spec: CommandSpec, args: string[]): Command {
  const { options } = spec;
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const end = tokens.find(({ kind }) => kind === 'positional' || kind === 'option-terminator');
  const at = end?.index ?? args.length;
  const rest = args.slice(end?.kind === 'option-terminator' ? at + 1 : at);
  const [first = '', ...others] = rest;
  const { values, positionals } = parse(spec, [...args.slice(0, at), ...(isServerUrl(first) ? others : [])]);
  if (values['help']) return { name: 'help', of: spec.name };
  return toCommand(spec, { values, words: isServerUrl(first) ? [first, ...positionals] : rest, server: undefined });
}

function parse(spec: CommandSpec, args: string[]): { values: TypedCommand['values']; positionals: string[] } {
  return parseArgs({ args, options: { ...spec.options, ...VERSION_OPTION }, allowPositionals: true });
}

function mistake(reason: string, of?: string): Mistake {
  return { name: 'mistake', reason, of };
}

function meantOption({ message }: Error, { options }: CommandSpec): string {
  const given = /Unknown option '--?([\w-]+)/.exec(message)?.[1];
  return given === undefined ? '' : hintAt(given, Object.keys(options), '--');
}

/** Node's message continues with an explanation of `--` that does not help here. */
function firstSentence(message: string): string {
  const [, lacking] = /^Option '(?:-\w, )?(--[\w-]+) <value>' argument missing/.exec(message) ?? [];
  if (lacking !== undefined) return `${lacking} needs a value after it.`;
  const [first = message] = message.split('\n')[0]!.split('. ');
  return first.endsWith('.') ? first : `${first}.`;
}
