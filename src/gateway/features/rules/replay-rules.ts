// Says what rules would have decided about a past call. The audit log has a call's name, server and principal, but not its arguments, its
// caller's groups and scopes, or the claims about its tool; a decision that depends on them names them.
import type { RuleDecision } from '../../../kernel/audit.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Expression } from './expression.ts';
import { RuleJudge } from './judge.ts';
import type { Use } from './judge.ts';
import { readRules } from './read-rules.ts';
import type { ReadyRule } from './read-rules.ts';
import { OwnRuleHistory } from './rule-history.ts';
import type { RuleOptions } from './rule.ts';
import { compileAll, USED_BY } from './rules-step.ts';
import { kindNamedBy } from '../../../kernel/named-thing.ts';

export interface PastCall {
  atMs: number;
  principal: string;
  /** The name of the API key. */
  key?: string | undefined;
  server: string;
  method: string;
  /** The server's own name, or the URI. */
  name: string;
}

export interface ReplayedCall {
  /** What the rules may decide; one entry if it is certain. Undefined: no rule matches, so it is allowed. */
  decisions: (RuleDecision | undefined)[];
  /** What is not in the log, and could decide: `arguments`, `groups`, `scopes`, `annotations`, `session`. */
  unknown: string[];
}

interface SplitRule {
  rule: ReadyRule;
  /** Judges by what the log has. */
  judge: RuleJudge;
  unknown: string[];
}

export async function createReplay(
  rules: readonly RuleOptions[],
  servers: readonly string[],
): Promise<(call: PastCall) => ReplayedCall> {
  const ready = readRules(rules);
  const expressions = await compileAll(ready);
  let now = 0;
  const clock: Clock = { now: () => now, after: () => () => {} };
  const history = new OwnRuleHistory(clock);
  const marking = ready.filter(({ marks }) => marks.length > 0);
  const toJudge = (own: readonly ReadyRule[]) =>
    new RuleJudge({ rules: [...own, ...marking], expressions, history, servers });
  const split = ready
    .filter(({ effect }) => effect !== undefined)
    .map((rule): SplitRule => {
      const unknown = unknownIn(rule, expressions);
      return { rule, unknown, judge: toJudge([withoutUnknown(rule, unknown)]) };
    });
  const marks = toJudge([]);
  return (call) => {
    now = call.atMs;
    const use = toUse(call);
    const { principal, key } = call;
    const client = {
      principal,
      ...(key !== undefined && { connection: { identity: { principal, key } } }),
    } as ClientView;
    const replayed = decide(split, use, client);
    history.note(client, marks.judge(use, client).marks);
    return replayed;
  };
}

function decide(split: readonly SplitRule[], use: Use, client: ClientView): ReplayedCall {
  const decisions: ReplayedCall['decisions'] = [];
  const unknown = new Set<string>();
  for (const { rule, judge, unknown: missing } of split) {
    const { decision } = judge.judge(use, client);
    if (!decision) continue;
    decisions.push(rule.decision);
    for (const one of missing) unknown.add(one);
    if (missing.includes('arguments')) decisions.push({ rule: rule.name, effect: 'deny' }); // the expression may fail
    if (missing.length === 0) return { decisions, unknown: [...unknown] };
  }
  return { decisions: [...decisions, undefined], unknown: [...unknown] };
}

function unknownIn(
  { when, group, scope, annotation, after, per }: ReadyRule,
  expressions: ReadonlyMap<string, Expression>,
): string[] {
  return [
    ...(when !== undefined && expressions.get(when)!.usesArguments ? ['arguments'] : []),
    ...(group ? ['groups'] : []),
    ...(scope ? ['scopes'] : []),
    ...(annotation ? ['annotations'] : []),
    ...(after && per === 'session' ? ['session'] : []),
  ];
}

function withoutUnknown(rule: ReadyRule, unknown: readonly string[]): ReadyRule {
  return {
    ...rule,
    group: undefined,
    scope: undefined,
    annotation: undefined,
    when: unknown.includes('arguments') ? undefined : rule.when,
    after: unknown.includes('session') ? undefined : rule.after,
  };
}

function toUse({ server, method, name }: PastCall): Use {
  const kind = kindNamedBy(method) ?? 'other';
  return {
    kind,
    name,
    origin: { server, name },
    method: kind === 'other' ? method : USED_BY[kind],
    asked: method,
    args: {},
  };
}
