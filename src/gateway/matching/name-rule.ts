// Checks whether a rule applies to a tool or prompt. A pattern may match the server's own name, `server__name`, or the name as
// the step sees it.
import type { Origin, ToolRule } from '../../kernel/step.ts';

/** Globs over names or URIs. */
export interface Rule {
  allow?: string[] | undefined;
  deny?: string[] | undefined;
}

/** `name`: as the step sees it. */
export type NameRule = (name: string, origin?: Origin) => boolean;

/** For rules that forbid, restrict or change something. */
export function toNameRule(patterns: readonly string[]): NameRule {
  const fits = toMatcher(patterns);
  return (name, origin) => fits(name) || (origin !== undefined && (fits(origin.name) || fits(qualifiedName(origin))));
}

/** For rules that permit something: a server cannot gain the permission of another server by imitating its tool names. */
export function toPermission(patterns: readonly string[]): NameRule {
  const fits = toMatcher(patterns);
  const rule = toNameRule(patterns);
  return (name, origin) => {
    if (!origin?.isPosing) return rule(name, origin);
    return fits(qualifiedName(origin)) || (name !== origin.name && fits(name));
  };
}

/** Declares the rules of a step, for the report of unmatched rules. */
export function toToolRules(patterns: Iterable<string>, about: Omit<ToolRule, 'pattern'> = {}): ToolRule[] {
  return [...patterns].map((pattern) => ({ pattern, ...about }));
}

export function qualifiedName({ server, name }: Origin): string {
  return `${server}__${name}`;
}

/**
 * Matches globs over names and URIs: `*` stands for any characters, `?` for one. It avoids regular expressions, which a client
 * could make run for minutes.
 */
export function toMatcher(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.includes('*')) return () => true;
  const exact = new Set(patterns.filter((pattern) => !isGlob(pattern)));
  const globs = patterns.filter(isGlob);
  return (text) => exact.has(text) || globs.some((glob) => matches(glob, text));
}

export function isGlob(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}

/** Takes at most pattern × text steps, because only the last star is ever retried. `spend`: called with the steps that a retry has taken; it may throw. */
export function matches(pattern: string, text: string, spend?: (steps: number) => void): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      spend?.(t - mark + 1);
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
