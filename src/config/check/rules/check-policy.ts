// Checks `rules`: what cannot be read is an error, and a rule that can never match a warning.
import { toMatcher, isGlob } from '../../../gateway/middleware/steps/filter/glob.ts';
import { readOneRule } from '../../../gateway/middleware/steps/rules/read-rules.ts';
import type { RuleMark, RuleOptions } from '../../../gateway/middleware/steps/rules/rule.ts';
import { toList } from '../../../gateway/middleware/steps/rules/rule-lists.ts';
import type { GatewayError } from '../../../shared/errors.ts';
import type { ConfigPath, ConfigProblems } from '../config-problems.ts';
import type { CheckContext } from '../check-shape.ts';
import type { ConfigInput } from '../schema.ts';

interface PlacedRule {
  rule: RuleOptions;
  path: ConfigPath;
  name: string;
}

export function checkPolicy(config: ConfigInput, servers: readonly string[], { problems }: CheckContext): void {
  const placed = (config.rules ?? []).flatMap((rule, index): PlacedRule[] =>
    rule === undefined ? [] : [{ rule, path: ['rules', index], name: `rules[${index}]` }],
  );
  const good = placed.filter((one) => isReadable(one, problems));
  if (good.length < placed.length) return;
  const put = new Set(good.flatMap(({ rule }) => toList(rule.marks) ?? []));
  for (const [index, one] of good.entries()) {
    const reason = neverMatches(one.rule, { config, servers, put }) ?? coveredBy(one.rule, good.slice(0, index));
    if (reason !== undefined) problems.warn(one.path, `this rule can never match: ${reason}`, 'Correct or remove it.');
  }
}

function isReadable({ rule, path, name }: PlacedRule, problems: ConfigProblems): boolean {
  try {
    readOneRule(rule, name);
    return true;
  } catch (thrown) {
    const { option, reason } = (thrown as GatewayError).details;
    const key = String(option).slice(name.length + 1);
    problems.error(key === '' ? path : [...path, key], String(reason), 'See docs/config.md for the keys of a rule.');
    return false;
  }
}

interface Around {
  config: ConfigInput;
  servers: readonly string[];
  /** The marks that rules put. */
  put: ReadonlySet<RuleMark>;
}

function neverMatches(rule: RuleOptions, { config, servers, put }: Around): string | undefined {
  const wanted = toList(rule.server);
  if (wanted && servers.length > 0 && !servers.some(toMatcher(wanted))) return 'no server has this name';
  const needsLogin = rule.group !== undefined || rule.scope !== undefined;
  if (needsLogin && !config.auth) return 'without "auth", callers have no groups and no scopes';
  const missing = [...(toList(rule.after) ?? [])].find((mark) => !put.has(mark));
  if (missing !== undefined) return `no rule puts the mark "${missing}"`;
  const marked = toList(rule.marked);
  if (marked && !marked.some((mark) => put.has(mark))) return `no rule puts the mark "${marked.join('" or "')}"`;
  const isForOthers = rule.tool === undefined && (rule.prompt !== undefined || rule.resource !== undefined);
  if (rule.annotation !== undefined && isForOthers) return 'only tools have annotations';
  return undefined;
}

const SELECTORS = ['principal', 'group', 'scope', 'server', 'method'] as const;
const KINDS = ['tool', 'prompt', 'resource'] as const;

/** The first rule that decides everything this one is about. */
function coveredBy(rule: RuleOptions, earlier: readonly PlacedRule[]): string | undefined {
  if (rule.effect === undefined) return undefined; // every rule with marks counts
  const found = earlier.find((one) => covers(one.rule, rule));
  return found && `${found.name} decides first`;
}

function covers(first: RuleOptions, later: RuleOptions): boolean {
  const { effect, when, after, marked, annotation } = first;
  if (effect === undefined || [when, after, marked, annotation].some((one) => one !== undefined)) return false;
  if (!SELECTORS.every((key) => includes(toList(first[key]), toList(later[key])))) return false;
  const named = KINDS.filter((key) => first[key] !== undefined);
  if (named.length === 0) return true;
  // A rule that permits matches fewer spellings than the same pattern in another rule.
  if (first.resource !== undefined && effect === 'allow') return false;
  const meant = KINDS.filter((key) => later[key] !== undefined);
  return (
    meant.length > 0 && meant.every((key) => named.includes(key) && includes(toList(first[key]), toList(later[key])))
  );
}

/** Whether every name that the later patterns match is matched by the first ones, as far as the patterns tell. */
function includes(first: readonly string[] | undefined, later: readonly string[] | undefined): boolean {
  if (first === undefined) return true;
  if (later === undefined) return first.includes('*');
  const fits = toMatcher(first);
  return later.every(
    (pattern) => first.includes(pattern) || first.includes('*') || (!isGlob(pattern) && fits(pattern)),
  );
}
