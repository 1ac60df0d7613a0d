// Checks whether a rule applies to a tool or prompt. A pattern may match the server's own name, `server__name`, or the name as
// the step sees it.
import type { Origin, ToolRule } from '../../../../protocol/step.ts';
import { toMatcher } from './glob.ts';

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
