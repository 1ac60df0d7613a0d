// Matches typed text against a pattern, because some patterns take years on some texts. A simple pattern on a short text runs
// directly; any other one is stopped after 50 ms of CPU time and counts as "does not match". The limit is CPU time, as the
// answers of a flow are checked again in every replay, whose outcome must not depend on the load of the machine.
import type { Script } from 'node:vm';
import { BoundedMap } from '../containers/bounded-map.ts';
import { GatewayError } from '../base/errors.ts';

const GUARD_MS = 50;
const MAX_TRIES = 20;
const SHORT = 1000;
const MAX_TEXT = 100_000;
const MAX_KEPT = 500;

interface Compiled {
  /** Undefined if JavaScript cannot parse the pattern. */
  regex: RegExp | undefined;
  /** Backtracking is at most quadratic. */
  tame: boolean;
}

/** The answer that is being checked, if it is checked as a whole. */
let whole: { isTimeUp: boolean } | undefined;

const compiled = new BoundedMap<string, Compiled>(MAX_KEPT);
let script: Script | undefined;

/** Undefined if JavaScript cannot parse the pattern. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  const { regex, tame } = compile(pattern);
  if (!regex) return undefined;
  if (tame && text.length <= SHORT) return regex.test(text);
  return text.length <= MAX_TEXT && guarded(regex, text);
}

/**
 * Checks a whole answer: once one of its patterns has used up the time, the others count as "does not match". Otherwise an answer with
 * many fields would take the time of each.
 */
export function checkAsWhole<T>(check: () => T): T {
  const outer = whole;
  whole ??= { isTimeUp: false };
  try {
    return check();
  } finally {
    whole = outer;
  }
}

/** Throws for a pattern that JSON Schema does not allow; called when an author's question is asked. */
export function requirePattern(pattern: string): void {
  if (compile(pattern).regex?.unicode) return;
  throw new GatewayError('BAD_OPTION', { option: 'pattern', reason: `${pattern} is not a pattern` });
}

/** A guarded `RegExp` for ajv. Throws for a pattern that JavaScript cannot parse, as `new RegExp` does. */
export function toGuardedPattern(pattern: string, flags: string): { test(text: string): boolean; toString(): string } {
  const { regex } = compile(pattern);
  if (!regex) return new RegExp(pattern, flags);
  return { test: (text) => matchesPattern(pattern, text) === true, toString: () => `guarded ${String(regex)}` };
}

function compile(pattern: string): Compiled {
  const create = () => ({ regex: toRegExp(pattern, 'u') ?? toRegExp(pattern, ''), tame: isTame(pattern) });
  return pattern.length > SHORT ? create() : compiled.getOrCreate(pattern, create);
}

function toRegExp(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined; // not a pattern with these flags
  }
}

/** At most one loop, over single characters, without back references or lookaround. */
function isTame(pattern: string): boolean {
  const loops = pattern.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  return loops.length <= 1 && !/\)[*+?{]|\\[1-9k]|\(\?[=!<]/.test(pattern) && pattern.length <= 500;
}

function guarded({ source, flags }: RegExp, text: string): boolean {
  if (whole?.isTimeUp) return false;
  const vm = process.getBuiltinModule('node:vm'); // loaded lazily: few servers send patterns
  script ??= new vm.Script('new RegExp(source, flags).test(text)');
  const context = vm.createContext(Object.assign(Object.create(null) as object, { source, flags, text }));
  const before = process.cpuUsage();
  for (let tries = 1; ; tries++) {
    try {
      return script.runInContext(context, { timeout: GUARD_MS }) === true;
    } catch {
      // The watchdog measures wall time; on a busy machine the pattern may hardly have run.
      const { user, system } = process.cpuUsage(before);
      if (user + system < GUARD_MS * 1000 && tries < MAX_TRIES) continue;
      if (whole) whole.isTimeUp = true;
      return false;
    }
  }
}
