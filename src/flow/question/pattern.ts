// Matches untrusted text against patterns of authors, as V8's backtracking can take very long. A simple pattern on a short text runs
// directly; any other one is stopped after 50 ms of CPU time and counts as "does not match". The limit is CPU time, as an answer is checked
// again in every replay, whose outcome must not depend on the load of the machine.
import { Script, createContext } from 'node:vm';
import { GatewayError } from '../../shared/errors.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';

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

const compiled = new BoundedMap<string, Compiled>(MAX_KEPT);

export function matchesSafely(pattern: string, text: string): boolean {
  const { regex, tame } = compilePattern(pattern);
  if (tame && text.length <= SHORT) return regex.test(text);
  if (text.length > MAX_TEXT) return false;
  return guarded(pattern, text);
}

/** Throws for an invalid pattern; called when the question is asked. */
export function compilePattern(pattern: string): Compiled {
  return compiled.getOrCreate(pattern, () => ({ regex: toRegExp(pattern), tame: isTame(pattern) }));
}

function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch (cause) {
    throw new GatewayError('BAD_OPTION', { option: 'pattern', reason: `${pattern} is not a pattern` }, { cause });
  }
}

/** At most one loop, over single characters, without back references or lookaround. */
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
      // The watchdog measures wall time; on a busy machine the pattern may hardly have run.
      const { user, system } = process.cpuUsage(before);
      if (user + system >= GUARD_MS * 1000 || tries >= MAX_TRIES) return false;
    }
  }
}
