// What the readers of options share. A UsageError says what is wrong and what to do.
export type OptionValue = string | boolean | (string | boolean)[] | undefined;

export interface ParsedArgs {
  values: { [option: string]: OptionValue };
  words: string[];
  /** The words after `--`. */
  command?: string[] | undefined;
}

export class UsageError extends Error {}

const SPAN_UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function toSpanMs(given: OptionValue, option: string): number | undefined {
  if (given === undefined) return undefined;
  const [, count, unit] = /^(\d+)([smhd])$/.exec(String(given)) ?? [];
  if (count !== undefined) return Number(count) * SPAN_UNITS[unit!]!;
  throw new UsageError(`${option} must be a span such as 30s, 5m, 2h or 1d, not "${String(given)}".`);
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

export function toPid(given: OptionValue): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d{0,9}$/.test(String(given))) return Number(given);
  throw new UsageError(`--pid must be the number of a process, not "${String(given)}".`);
}
