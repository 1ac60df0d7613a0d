// How rules are written: one value or a list of them, and the names of callers.
import type { ToolRule } from '../../../../protocol/step.ts';
import { isAnonymous, LOCAL } from '../../../../shared/anonymous.ts';
import { isGlob } from '../filter/glob.ts';

export function toList<T>(value: T | readonly T[] | undefined): readonly T[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

export function toNameRuleList(
  tool: string | readonly string[] | undefined,
  server: string | readonly string[] | undefined,
): ToolRule[] {
  const [only, ...others] = toList(server) ?? [];
  const isOne = only !== undefined && others.length === 0 && !isGlob(only);
  return (toList(tool) ?? []).map((pattern) => (isOne ? { pattern, server: only } : { pattern }));
}

/** The principal as rules name it. */
export function nameOfPrincipal(principal: string): string {
  return principal === LOCAL || isAnonymous(principal) ? 'anonymous' : principal;
}
