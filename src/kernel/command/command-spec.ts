// A command as it can be typed: the parser, the help and the shell completion are made from it, and the type of the parsed command follows from it.
// A command of a feature also says what it does.
import { suggest } from '../text/suggest.ts';
import type { CommandTools } from './command-tools.ts';
import { COMMON, UsageError } from './option.ts';
import type { Option, TypedValue } from './option.ts';

export interface CommandSpec<Name extends string = string, Parsed extends object = object> {
  name: Name;
  summary: string;
  /** What follows the name of the command. */
  usage: string[];
  /** A few more lines about the command. */
  about?: string[];
  options: Record<string, Option>;
  /** Each line with what it does. */
  examples: Record<string, string>;
  /** Words that may follow the command: `file` for a path, `names` for names that the running gateway knows. */
  words?: { choices?: readonly string[]; file?: boolean; names?: 'tools' };
  /** A server to start may follow `--`. */
  takesServer?: boolean;
  /** `--help` behind a word asks about what the word names, and the command itself answers. */
  helpsWithWord?: boolean;
  /** Checks what was typed. Throws a UsageError. */
  read(typed: TypedCommand): Parsed;
}

export interface TypedCommand {
  values: { [option: string]: TypedValue };
  words: string[];
  /** The words after `--`. */
  server: string[] | undefined;
}

/** The values of options by their names. */
export type ValuesOf<Options> = { [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never };

export type ParsedCommand<Spec> = Spec extends CommandSpec<infer Name, infer Parsed> ? { name: Name } & Parsed : never;

interface CommandForm<Name extends string, Options, Parsed extends object> extends Omit<
  CommandSpec<Name>,
  'options' | 'read'
> {
  /** Without `--help`, which every command has. */
  options: Options;
  read(given: Pick<TypedCommand, 'words' | 'server'> & { options: ValuesOf<Options>; asksHelp: boolean }): Parsed;
}

export function defineCommand<const Name extends string, Options extends Record<string, Option>, Parsed extends object>(
  form: CommandForm<Name, Options, Parsed>,
): CommandSpec<Name, Parsed> {
  const { options } = form;
  return {
    ...form,
    options: { ...options, help: COMMON.help },
    read({ values, words, server }) {
      const read = Object.entries(options).map(([name, option]) => [name, option.read(values[name], `--${name}`)]);
      const given = Object.fromEntries(read) as ValuesOf<Options>;
      return form.read({ options: given, words, server, asksHelp: values['help'] === true });
    },
  };
}

/** With what it does. Resolves with the exit status. Its code is loaded when it runs, so that no other command waits for it. */
export interface FeatureCommand<Name extends string = string, Parsed extends object = object> extends CommandSpec<
  Name,
  Parsed
> {
  run(command: Parsed, tools: CommandTools): Promise<number>;
}

export function defineFeatureCommand<
  const Name extends string,
  Options extends Record<string, Option>,
  Parsed extends object,
>(
  form: CommandForm<Name, Options, Parsed> & Pick<FeatureCommand<Name, NoInfer<Parsed>>, 'run'>,
): FeatureCommand<Name, Parsed> {
  return { ...defineCommand(form), run: form.run };
}

export function only([first, ...rest]: string[], command: string): string | undefined {
  if (rest.length > 0)
    throw new UsageError(`"${command}" takes one word at most, but "${rest.join(' ')}" was given, too.`);
  return first;
}

export function none(words: string[], command: string): void {
  if (words.length > 0)
    throw new UsageError(`"${command}" takes no further words, but "${words.join(' ')}" was given.`);
}

/** For words that cannot follow. */
export function refuse(words: string[]): void {
  if (words.length > 0) throw new UsageError(`Unexpected words "${words.join(' ')}".`);
}

/** What to do, as the first word. */
export function toAction<T extends string>(word: string | undefined, actions: readonly T[]): T {
  const found = actions.find((one) => one === word);
  if (found === undefined) throw new UsageError(`Say what to do: ${actions.join(', ')}.`);
  return found;
}

/** ` Did you mean "…"?`, or nothing. */
export function hintAt(word: string, known: readonly string[], sign = ''): string {
  const meant = suggest(word, known);
  return meant === undefined ? '' : ` Did you mean "${sign}${meant}"?`;
}
