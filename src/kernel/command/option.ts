// Options of commands: how each is written, what help and completion say of it, and how its value is read. A UsageError says what is wrong and what
// to do.
export class UsageError extends Error {}

/** As `parseArgs` returns it. */
export type TypedValue = string | boolean | (string | boolean)[] | undefined;

export interface Option<T = unknown> {
  type: 'string' | 'boolean';
  /** Placeholder for the value in the help; a flag has none. */
  value?: string;
  text: string;
  short?: string;
  multiple?: boolean;
  choices?: readonly string[];
  /** Checks what was typed. `name`: the option with its dashes, for the UsageError. */
  read(typed: TypedValue, name: string): T;
}

/** The kinds of options. */
export const option = { flag, text, texts, choice, count, pairs, checked, list, seconds, port };

function flag(text: string, short?: string): Option<boolean> {
  return { type: 'boolean', text, ...(short !== undefined && { short }), read: (typed) => typed === true };
}

function text(value: string, about: string): Option<string | undefined> {
  return checked(value, about, (typed) => typed);
}

function choice<const T extends string>(value: string, choices: readonly T[], about: string): Option<T | undefined> {
  return { ...checked(value, about, (typed, name) => oneOf(typed, choices, name)), choices };
}

/** A whole number from 1 to `most`. */
function count(about: string, most: number): Option<number | undefined> {
  return checked('N', about, (typed, name) => {
    const number = Number(typed);
    if (Number.isInteger(number) && number > 0 && number <= most) return number;
    throw new UsageError(`${name} must be a number from 1 to ${most}, not "${typed}".`);
  });
}

/** May be repeated. */
function texts(value: string, about: string): Option<string[]> {
  return list(value, about, (typed) => typed);
}

/** `K=V`, may be repeated. `form`: how the user should have written it. */
function pairs(about: string, form: string): Option<[string, string][]> {
  return list('K=V', about, (typed) => splitPair(typed, '=', form));
}

function checked<T>(value: string, about: string, read: (typed: string, name: string) => T): Option<T | undefined> {
  return {
    type: 'string',
    value,
    text: about,
    read: (typed, name) => (typed === undefined ? undefined : read(String(typed), name)),
  };
}

function list<T>(value: string, about: string, read: (typed: string, name: string) => T): Option<T[]> {
  return {
    type: 'string',
    value,
    text: about,
    multiple: true,
    read: (typed, name) => ((typed ?? []) as string[]).map((one) => read(one, name)),
  };
}

/** In milliseconds. */
function seconds(about: string): Option<number | undefined> {
  return checked('S', about, (typed, name) => {
    const value = Number(typed);
    if (value > 0 && value <= 3600) return value * 1000;
    throw new UsageError(`${name} must be a number of seconds up to 3600, not "${typed}".`);
  });
}

function port(about: string): Option<number | undefined> {
  return checked('N', about, (typed, name) => {
    if (/^\d{1,5}$/.test(typed) && Number(typed) <= 65_535) return Number(typed);
    throw new UsageError(`${name} must be a number from 0 to 65535, not "${typed}".`);
  });
}

/** The options that many commands have. */
export const COMMON = {
  pid: checked('N', 'the gateway with this process id, if several run', (typed, name) => {
    if (/^[1-9]\d{0,9}$/.test(typed)) return Number(typed);
    throw new UsageError(`${name} must be the number of a process, not "${typed}".`);
  }),
  json: flag('print JSON'),
  help: flag('this help', 'h'),
};

/** `form`: how the user should have written it. */
export function splitPair(typed: string, sign: string, form: string): [string, string] {
  const at = typed.indexOf(sign);
  if (at < 1) throw new UsageError(`"${typed}" has no name and value: write ${form}.`);
  return [typed.slice(0, at), typed.slice(at + 1)];
}

export function oneOf<T extends string>(typed: string, choices: readonly T[], name: string): T {
  const found = choices.find((one) => one === typed);
  if (found !== undefined) return found;
  throw new UsageError(`${name} must be one of ${choices.join(', ')}, not "${typed}".`);
}

const SPAN_UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function toSpanMs(typed: string, name: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(typed) ?? [];
  if (count !== undefined) return Number(count) * SPAN_UNITS[unit!]!;
  throw new UsageError(`${name} must be a span such as 30s, 5m, 2h or 1d, not "${typed}".`);
}
