// Checks rules and compiles them: each becomes functions that a use is compared with. A misspelled key must not make a rule match more.
import { isObject } from '../../../kernel/message.ts';
import type { RuleDecision } from '../../../kernel/audit.ts';
import { badOption } from '../../chain/step-options.ts';
import { toMatcher } from '../../matching/name-rule.ts';
import { toUriPermission, toUriRestriction } from '../../matching/uri-rule.ts';
import type { UriPattern } from '../../matching/uri-rule.ts';
import { RULE_ANNOTATIONS, RULE_EFFECTS, RULE_MARKS, toList } from './rule.ts';
import type { RuleAnnotation, RuleEffect, RuleMark, RuleOptions } from './rule.ts';

type Matcher = (text: string) => boolean;

export interface ReadyRule {
  /** Such as `rules[2]`. */
  readonly name: string;
  readonly effect: RuleEffect | undefined;
  /** What it decides; the same object for all decisions. */
  readonly decision: RuleDecision | undefined;
  readonly principal: Matcher | undefined;
  readonly group: Matcher | undefined;
  readonly scope: readonly string[] | undefined;
  readonly server: Matcher | undefined;
  /** For a rule that names no kind, all are undefined. */
  readonly tool: Matcher | undefined;
  readonly prompt: Matcher | undefined;
  readonly resource: UriPattern | undefined;
  readonly namesKind: boolean;
  readonly method: Matcher | undefined;
  readonly annotation: readonly RuleAnnotation[] | undefined;
  readonly marked: readonly RuleMark[] | undefined;
  readonly after: readonly RuleMark[] | undefined;
  readonly per: 'principal' | 'session';
  readonly withinMs: number;
  readonly when: string | undefined;
  readonly marks: readonly RuleMark[];
  /** Whether only who calls, and the name, decide whether it matches. */
  readonly isPlain: boolean;
}

const DAY_MS = 86_400_000;
const MAX_RULES = 1000;
const KEYS = new Set([
  'principal',
  'group',
  'scope',
  'server',
  'tool',
  'prompt',
  'resource',
  'method',
  'annotation',
  'marked',
  'after',
  'per',
  'withinMs',
  'when',
  'effect',
  'marks',
]);

export function readRules(rules: readonly RuleOptions[]): ReadyRule[] {
  if (!Array.isArray(rules)) throw badOption('rules', 'must be a list of rules');
  if (rules.length > MAX_RULES) throw badOption('rules', `has ${rules.length} rules; at most ${MAX_RULES} are read`);
  return rules.map((rule, index) => readOneRule(rule, `rules[${index}]`));
}

/** `name`: such as `rules[2]`. */
export function readOneRule(given: unknown, name: string): ReadyRule {
  if (!isObject(given)) throw badOption(name, 'must be an object');
  const rule = given as RuleOptions;
  const foreign = Object.keys(rule).find((key) => !KEYS.has(key));
  if (foreign !== undefined)
    throw badOption(`${name}.${foreign}`, `is not a key of a rule; there are ${[...KEYS].join(', ')}`);
  const { effect, per = 'principal', withinMs = DAY_MS } = rule;
  const globs = (key: 'principal' | 'group' | 'server' | 'tool' | 'prompt' | 'method') => toGlobs(rule, key, name);
  const words = <W extends string>(key: 'annotation' | 'marked' | 'after' | 'marks', known: readonly W[]) =>
    toWords(rule[key] as W | readonly W[] | undefined, known, `${name}.${key}`);
  const [principal, group, server] = [globs('principal'), globs('group'), globs('server')];
  const [tool, prompt, method] = [globs('tool'), globs('prompt'), globs('method')];
  const annotation = words('annotation', RULE_ANNOTATIONS);
  const marked = words('marked', RULE_MARKS);
  const after = words('after', RULE_MARKS);
  const marks = words('marks', RULE_MARKS) ?? [];
  checkWhole(rule, name);
  const resource = toTexts(rule.resource, `${name}.resource`);
  return {
    name,
    effect,
    decision: effect && { rule: name, effect },
    principal,
    group,
    server,
    tool,
    prompt,
    method,
    annotation,
    marked,
    after,
    marks,
    per,
    withinMs,
    scope: toTexts(rule.scope, `${name}.scope`),
    resource: resource && (effect === 'allow' ? toUriPermission(resource) : toUriRestriction(resource)),
    namesKind: tool !== undefined || prompt !== undefined || resource !== undefined,
    when: rule.when,
    isPlain: [method, annotation, marked, after, rule.when].every((one) => one === undefined),
  };
}

function checkWhole(
  { effect, marks, per, withinMs, when, annotation, marked, after }: RuleOptions,
  name: string,
): void {
  if (effect === undefined && marks === undefined)
    throw badOption(name, `needs an "effect" (${RULE_EFFECTS.join(', ')}) or "marks"`);
  if (effect !== undefined && !RULE_EFFECTS.includes(effect))
    throw badOption(`${name}.effect`, `must be ${RULE_EFFECTS.join(', ')}`);
  if (effect !== undefined && marks !== undefined)
    throw badOption(name, 'has an "effect" and "marks"; write two rules, as every rule with marks counts');
  if (marks !== undefined && (marked !== undefined || after !== undefined))
    throw badOption(name, 'puts marks because of marks; name the tools instead');
  if (effect === 'allow' && annotation !== undefined)
    throw badOption(
      `${name}.annotation`,
      'is a claim of the server, and cannot allow anything; use it to deny, ask or hide',
    );
  if (per !== undefined && per !== 'principal' && per !== 'session')
    throw badOption(`${name}.per`, 'must be principal or session');
  if (withinMs !== undefined && (!Number.isFinite(withinMs) || withinMs < 1))
    throw badOption(`${name}.withinMs`, 'must be a number of at least 1');
  if ((per !== undefined || withinMs !== undefined) && after === undefined)
    throw badOption(name, 'has "per" or "withinMs" without "after"');
  if (when !== undefined && (typeof when !== 'string' || when.trim() === ''))
    throw badOption(`${name}.when`, 'must be an expression');
}

function toGlobs(
  rule: RuleOptions,
  key: 'principal' | 'group' | 'server' | 'tool' | 'prompt' | 'method',
  name: string,
) {
  const texts = toTexts(rule[key], `${name}.${key}`);
  return texts && toMatcher(texts);
}

function toTexts(value: string | readonly string[] | undefined, option: string): readonly string[] | undefined {
  const texts = toList(value);
  if (texts === undefined) return undefined;
  const isGood = texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== '');
  if (!isGood) throw badOption(option, 'must be a text, or a list of texts that is not empty');
  return texts;
}

function toWords<W extends string>(value: W | readonly W[] | undefined, known: readonly W[], option: string) {
  const words = toTexts(value, option) as readonly W[] | undefined;
  const foreign = words?.find((word) => !known.includes(word));
  if (foreign !== undefined) throw badOption(option, `"${foreign}" is not one of ${known.join(', ')}`);
  return words;
}
