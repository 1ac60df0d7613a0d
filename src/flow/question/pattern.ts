// Patterns of authors meet texts of strangers, and V8 backtracks. A pattern that cannot go wrong on a short text is run as it
// is; every other one runs under a watchdog that stops it after 50 ms of work, which counts as "does not match". An answer is looked at
// again in every replay: how busy the machine is must not make another one of it.
import { Script, createContext } from 'node:vm';
import { GatewayError } from '../../shared/errors.ts';

const GUARD_MS = 50;
const MAX_TRIES = 20;
const SHORT = 1000;
const MAX_TEXT = 100_000;
const MAX_KEPT = 500;

interface Compiled {
  regex: RegExp;
  /** Backtracking is at most quadratic. */
  tame: boolean;
}

const compiled = new Map<string, Compiled>();

export function matchesSafely(pattern: string, text: string): boolean {
  const { regex, tame } = compilePattern(pattern);
  if (tame && text.length <= SHORT) return regex.test(text);
  if (text.length > MAX_TEXT) return false;
  return guarded(pattern, text);
}

/** Throws where the pattern is none; for the moment at which a question is written. */
export function compilePattern(pattern: string): Compiled {
  const known = compiled.get(pattern);
  if (known) return known;
  if (compiled.size >= MAX_KEPT) compiled.clear();
  const made = { regex: toRegExp(pattern), tame: isTame(pattern) };
  compiled.set(pattern, made);
  return made;
}

function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch (cause) {
    throw new GatewayError('BAD_OPTION', { option: 'pattern', reason: `${pattern} is not a pattern` }, { cause });
  }
}

/** One loop at most, over one character at a time, and nothing that refers back or looks around. */
function isTame(pattern: string): boolean {
  const loops = pattern.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  return loops.length <= 1 && !/\)[*+?{]|\\[1-9k]|\(\?[=!<]/.test(pattern) && pattern.length <= 500;
}

let script: Script | undefined;

function guarded(pattern: string, text: string): boolean {
  script ??= new Script('new RegExp(pattern, "u").test(text)');
  const context = createContext({ pattern, text });
  const before = process.cpuUsage();
  for (let tries = 1; ; tries++) {
    try {
      return script.runInContext(context, { timeout: GUARD_MS }) === true;
    } catch {
      // The watchdog goes by the clock: where others had the processor meanwhile, this has hardly begun.
      const { user, system } = process.cpuUsage(before);
      if (user + system >= GUARD_MS * 1000 || tries >= MAX_TRIES) return false;
    }
  }
}
