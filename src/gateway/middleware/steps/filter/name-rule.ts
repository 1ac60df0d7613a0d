// Whether a rule is about a tool or prompt. A rule may name it as its server does, by `server__name`, or as it is shown where the step
// stands, at whatever path it is called. Globs match each of these.
import type { Origin, ToolRule } from '../../../../protocol/step.ts';
import { toMatcher } from './glob.ts';

/** `name`: as it is shown where the step stands. */
export type NameRule = (name: string, origin?: Origin) => boolean;

/** For rules that forbid, restrict or change something. */
export function toNameRule(patterns: readonly string[]): NameRule {
  const fits = toMatcher(patterns);
  return (name, origin) => fits(name) || (origin !== undefined && (fits(origin.name) || fits(qualifiedName(origin))));
}

/** For rules that permit something: a server cannot get what another was given by calling its tools like those of the other. */
export function toPermission(patterns: readonly string[]): NameRule {
  const fits = toMatcher(patterns);
  const rule = toNameRule(patterns);
  return (name, origin) => {
    if (!origin?.isPosing) return rule(name, origin);
    return fits(qualifiedName(origin)) || (name !== origin.name && fits(name));
  };
}

/** What a step says of its rules, for the report of those that match nothing. */
export function toToolRules(patterns: Iterable<string>, about: Omit<ToolRule, 'pattern'> = {}): ToolRule[] {
  return [...patterns].map((pattern) => ({ pattern, ...about }));
}

export function qualifiedName({ server, name }: Origin): string {
  return `${server}__${name}`;
}
