// Parses the command line into a typed command. Never throws and never prints: a mistake in the command line is a command, too.
import { parseArgs } from 'node:util';
import { suggest } from '../../config/check/suggest.ts';
import type { Command } from './command.ts';
import { COMMAND_SPECS, findCommandSpec } from './command-specs.ts';
import type { CommandSpec } from './command-specs.ts';
import type { OptionSpec } from './option-specs.ts';
import { UsageError } from './option-values.ts';
import type { ParsedArgs } from './option-values.ts';
import { toCommand } from './to-command.ts';

type Options = Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }>;

const GLOBAL: Options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'V' } };
const VERSION = new Set(['-V', '-v', '--version', 'version']);
/** Names that other programs use for the same command. */
const OTHER_WORDS: Record<string, string> = {
  list: 'ls',
  start: 'serve',
  exec: 'call',
  get: 'read',
  validate: 'check',
};

export function readArgs(argv: string[]): Command {
  if (VERSION.has(argv[0] ?? '')) return { name: 'version' };
  const at = findCommandWord(argv);
  const word = argv[at];
  if (word === undefined) return readWithoutCommand(argv);
  const rest = argv.toSpliced(at, 1);
  if (word === 'help') return toHelp(rest);
  const spec = findCommandSpec(word);
  if (!spec) return mistake(unknown(word));
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
  return values['version'] ? { name: 'version' } : mistake('No command was given.');
}

/** Before the command is known. An option has the same type in every command. */
function parseAny(args: string[]) {
  const options = Object.assign({}, ...COMMAND_SPECS.map((spec) => toOptions(spec.options)), GLOBAL) as Options;
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
  if (of !== undefined && !findCommandSpec(of)) return mistake(unknown(of));
  return { name: 'help', of };
}

function read(spec: CommandSpec, args: string[]): Command {
  const before = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (before.some((arg) => arg === '--help' || arg === '-h')) return { name: 'help', of: spec.name };
  const end = TALKING.has(spec.name) ? args.indexOf('--') : -1;
  const command = end === -1 ? undefined : args.slice(end + 1);
  const { values, positionals } = parse(spec, end === -1 ? args : args.slice(0, end));
  return values['version'] ? { name: 'version' } : toCommand(spec.name, { values, words: positionals, command });
}

/** These commands take a server command after `--`. */
const TALKING = new Set(['ls', 'call', 'read', 'prompt', 'status']);

function unknown(word: string): string {
  const meant =
    OTHER_WORDS[word] ??
    suggest(
      word,
      COMMAND_SPECS.map(({ name }) => name),
    );
  return `Unknown command "${word}".${meant === undefined ? '' : ` Did you mean "${meant}"?`}`;
}

/** The options of `wrap` come before the wrapped command; everything after it belongs to that command. A URL takes no arguments. */
function readWrap(spec: CommandSpec, args: string[]): Command {
  const options = toOptions(spec.options);
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const end = tokens.find(({ kind }) => kind === 'positional' || kind === 'option-terminator');
  const at = end?.index ?? args.length;
  const rest = args.slice(end?.kind === 'option-terminator' ? at + 1 : at);
  if (!/^(https?|wss?):\/\//i.test(rest[0] ?? '')) {
    const { values } = parse(spec, args.slice(0, at));
    return values['help'] ? { name: 'help', of: spec.name } : toCommand(spec.name, { values, words: rest });
  }
  const { values, positionals } = parse(spec, [...args.slice(0, at), ...rest.slice(1)]);
  if (values['help']) return { name: 'help', of: spec.name };
  return toCommand(spec.name, { values, words: [rest[0]!, ...positionals] });
}

function parse(spec: CommandSpec, args: string[]): { values: ParsedArgs['values']; positionals: string[] } {
  return parseArgs({ args, options: { ...toOptions(spec.options), ...GLOBAL }, allowPositionals: true });
}

function toOptions(options: Record<string, OptionSpec>): Options {
  const entries = Object.entries(options).map(([name, { type, short, multiple }]) => [
    name,
    { type, ...(short !== undefined && { short }), ...(multiple && { multiple }) },
  ]);
  return Object.fromEntries(entries) as Options;
}

function mistake(reason: string, of?: string): Command {
  return { name: 'mistake', reason, of };
}

function meantOption({ message }: Error, { options }: CommandSpec): string {
  const given = /Unknown option '--?([\w-]+)/.exec(message)?.[1];
  const meant = given === undefined ? undefined : suggest(given, Object.keys(options));
  return meant === undefined ? '' : ` Did you mean "--${meant}"?`;
}

/** Node's message continues with an explanation of `--` that does not help here. */
function firstSentence(message: string): string {
  const [, lacking] = /^Option '(?:-\w, )?(--[\w-]+) <value>' argument missing/.exec(message) ?? [];
  if (lacking !== undefined) return `${lacking} needs a value after it.`;
  const [first = message] = message.split('\n')[0]!.split('. ');
  return first.endsWith('.') ? first : `${first}.`;
}
