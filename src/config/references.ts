// Shows text with references in place of the values of variables, which may be secrets.
import type { ConfigProblem } from './check/config-problems.ts';

/** Replaces long values first, as one may contain another. Values under four characters occur by chance. */
export function withReferences(text: string, used: ReadonlyMap<string, string>): string {
  const whole = used.get(text);
  if (whole !== undefined) return whole;
  const values = [...used.keys()].filter((value) => value.length >= 4).sort((a, b) => b.length - a.length);
  return values.reduce((shown, value) => shown.replaceAll(value, () => used.get(value)!), text);
}

export function problemsWithReferences(problems: ConfigProblem[], used: ReadonlyMap<string, string>): ConfigProblem[] {
  if (used.size === 0) return problems;
  return problems.map((one) => ({
    ...one,
    message: withReferences(one.message, used),
    hint: withReferences(one.hint, used),
  }));
}
