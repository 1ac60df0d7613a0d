// What an author writes: one rule of the list `rules`. Light: a gateway without rules loads no other file of this folder.
import type { ToolRule } from '../../../kernel/step.ts';
import { isAnonymous, LOCAL } from '../../../kernel/base/anonymous.ts';
import { isGlob } from '../../matching/name-rule.ts';

export const RULE_EFFECTS = ['allow', 'deny', 'ask', 'hide'] as const;

export type RuleEffect = (typeof RULE_EFFECTS)[number];

/** What reading or calling something means for later calls: private data, text of strangers, or a way out. */
export const RULE_MARKS = ['private', 'untrusted', 'out'] as const;

export type RuleMark = (typeof RULE_MARKS)[number];

/**
 * What a server claims about a tool. What it does not say counts as the protocol says: it may destroy, and reach anybody. That it does not
 * counts only if the operator believes the server (`trustAnnotations`).
 */
export const RULE_ANNOTATIONS = ['destructive', 'openWorld', 'readOnly', 'idempotent'] as const;

export type RuleAnnotation = (typeof RULE_ANNOTATIONS)[number];

type OneOrMore<T> = T | readonly T[];

/** Every condition that is given has to hold; several values of one are alternatives. Names are globs. */
export interface RuleOptions {
  /**
   * Who calls: `key:NAME` is an API key, `user:NAME` the user of a key or a login; `anonymous` without a login. The principal of the log
   * works, too: `key:USER`, `https://login.example.com#ann`.
   */
  principal?: OneOrMore<string> | undefined;
  group?: OneOrMore<string> | undefined;
  scope?: OneOrMore<string> | undefined;
  server?: OneOrMore<string> | undefined;
  /** The server's own name, or `server__name`. */
  tool?: OneOrMore<string> | undefined;
  prompt?: OneOrMore<string> | undefined;
  /** URIs, in every spelling that a server may treat as the same. */
  resource?: OneOrMore<string> | undefined;
  method?: OneOrMore<string> | undefined;
  /** Not with `allow`: a server's claims about itself permit nothing. */
  annotation?: OneOrMore<RuleAnnotation> | undefined;
  /** Has one of these marks, from another rule. */
  marked?: OneOrMore<RuleMark> | undefined;
  /** The caller has read, or is just reading, something with each of these marks. */
  after?: OneOrMore<RuleMark> | undefined;
  /** Which earlier calls `after` considers. Default: all calls of the principal. */
  per?: 'principal' | 'session' | undefined;
  /** How long ago that may be. Default: a day. */
  withinMs?: number | undefined;
  /** An expression in CEL that must be true. One that fails denies. */
  when?: string | undefined;
  /** The first rule with an effect that matches decides. */
  effect?: RuleEffect | undefined;
  /** Puts these marks on everything that matches. Every such rule counts, whatever its place. */
  marks?: OneOrMore<RuleMark> | undefined;
}

/** The tool names in the rules, for the report of names that match nothing. */
export function toolNamesIn(rules: readonly RuleOptions[]): ToolRule[] {
  return rules.flatMap(({ tool, server }) => toNameRuleList(tool, server));
}

function toNameRuleList(
  tool: string | readonly string[] | undefined,
  server: string | readonly string[] | undefined,
): ToolRule[] {
  const [only, ...others] = toList(server) ?? [];
  const isOne = only !== undefined && others.length === 0 && !isGlob(only);
  return (toList(tool) ?? []).map((pattern) => (isOne ? { pattern, server: only } : { pattern }));
}

export function toList<T>(value: T | readonly T[] | undefined): readonly T[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

/** The principal as rules name it. */
export function nameOfPrincipal(principal: string): string {
  return principal === LOCAL || isAnonymous(principal) ? 'anonymous' : principal;
}
