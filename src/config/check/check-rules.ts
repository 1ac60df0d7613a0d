// Checks the rules of a configuration: `rules`, and the names and globs in the rules for tools and in steps.
import { isGlob, toMatcher } from '../../gateway/matching/name-rule.ts';
import { readOneRule } from '../../gateway/features/rules/read-rules.ts';
import { toList } from '../../gateway/features/rules/rule.ts';
import type { RuleMark, RuleOptions } from '../../gateway/features/rules/rule.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { splitStep } from '../normalize-step.ts';
import type { ConfigPath, ConfigProblems } from './config-problems.ts';
import type { ConfigInput } from './schema.ts';
import { suggest } from '../../kernel/text/suggest.ts';
import type { NamedServer } from './named-server.ts';

interface Pattern {
  path: ConfigPath;
  text: string;
}

const APPROVE_WORDS = ['destructive', 'always'];
/** Steps whose option keys are names or globs. */
const BY_NAME = new Set(['fixed', 'defaults']);

export function checkRules(config: ConfigInput, servers: readonly NamedServer[], problems: ConfigProblems): void {
  checkPatterns(config, servers, problems);
  if (config.rules) checkPolicy(config, servers, problems);
}

/** Words that cannot match are warnings, as any word may be the name of a tool. */
function checkPatterns(config: ConfigInput, servers: readonly NamedServer[], problems: ConfigProblems): void {
  const names = [...new Set(servers.map(({ name }) => name))];
  const written = (config.steps ?? []).flatMap((step, index) => (step === undefined ? [] : stepPatterns(step, index)));
  const own = servers.flatMap(({ path, server }) => patternsIn(server.tools, [...path, 'tools']));
  for (const { path, text } of [...written, ...own]) {
    checkWord(path, text, problems);
    checkServerOf(path, text, names, problems);
  }
}

function stepPatterns(step: string | Record<string, unknown>, index: number): Pattern[] {
  const { name, options } = splitStep(step);
  const path: ConfigPath = ['steps', index, name];
  if (BY_NAME.has(name)) return Object.keys(options).map((text) => ({ path: [...path, text], text }));
  if (name === 'rename' || name === 'describe') {
    return ['tools', 'prompts'].flatMap((area) =>
      Object.keys(options[area] ?? {}).map((text) => ({ path: [...path, area, text], text })),
    );
  }
  if (name === 'approve') return patternsIn({ when: options.when }, path);
  return name === 'filter' || name === 'timeout' ? patternsIn(options, path) : [];
}

/** All texts in the value, with their paths. */
function patternsIn(value: unknown, path: ConfigPath): Pattern[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    patternsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function checkWord(path: ConfigPath, text: string, problems: ConfigProblems): void {
  if (!path.includes('approve') || isGlob(text) || APPROVE_WORDS.includes(text)) return;
  const meant = suggest(text, APPROVE_WORDS);
  if (meant === undefined) return;
  problems.warn(path, `"${text}" is taken for the name of a tool`, `Did you mean "${meant}"?`);
}

function checkServerOf(path: ConfigPath, text: string, servers: readonly string[], problems: ConfigProblems): void {
  const [server, ...rest] = text.split('__');
  if (rest.length === 0 || server === undefined || server === '' || isGlob(server) || servers.includes(server)) return;
  const meant = suggest(server, servers);
  if (meant === undefined) return;
  problems.warn(path, `no server is called "${server}", so this rule matches nothing`, `Did you mean "${meant}"?`);
}

interface PlacedRule {
  rule: RuleOptions;
  path: ConfigPath;
  name: string;
}

/** What cannot be read is an error, and a rule that can never match a warning. */
function checkPolicy(config: ConfigInput, all: readonly NamedServer[], problems: ConfigProblems): void {
  const servers = all.filter(({ server }) => !server.disabled).map(({ name }) => name);
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

/** What is wrong with the expression of a rule; undefined if it can be used. Its code is loaded only then. */
export async function expressionProblem(name: string, when: string): Promise<string | undefined> {
  const { compileExpression } = await import('../../gateway/features/rules/expression.ts');
  try {
    compileExpression(when, `${name}.when`);
    return undefined;
  } catch (thrown) {
    return String((thrown as GatewayError).details.reason);
  }
}

/** Throws at the first one that cannot be used. */
export async function requireExpressions(rules: readonly RuleOptions[] = []): Promise<void> {
  for (const [index, { when }] of rules.entries()) {
    const reason = when === undefined ? undefined : await expressionProblem(`rules[${index}]`, when);
    if (reason !== undefined) throw new GatewayError('BAD_OPTION', { option: `rules[${index}].when`, reason });
  }
}
