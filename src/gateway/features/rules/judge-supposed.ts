// What the rules of the moment would decide about a call that nobody makes, and why: for the console. What the caller has read before counts, and nothing is noted.
import { CALL_TOOL } from '../../../kernel/methods.ts';
import type { SupposedCall } from '../feature.ts';
import type { CheckedRule, JudgedCall } from '../judged-call.ts';
import type { ExplainedRule, RuleJudge } from './judge.ts';
import type { RuleHistory } from './rule-history.ts';

interface RulesOfMoment {
  readonly judge: RuleJudge;
  readonly history: RuleHistory;
}

const WORDS: Readonly<Record<string, string>> = {
  caller: 'another caller is meant',
  method: 'another method is meant',
  name: 'another server or tool is meant',
  annotation: 'the server says something else of the tool, or is not believed',
  marked: 'no rule puts this mark on the tool',
  after: 'the caller has not read such things before',
  false: 'its expression is false',
  failed: 'its expression fails, and then it denies',
  endless: 'its expression takes too long, and then it denies',
  maybe: 'its expression is about arguments that are not known',
  true: 'all of its conditions hold',
};

export async function judgeSupposed(call: SupposedCall, { judge, history }: RulesOfMoment): Promise<JudgedCall> {
  const { client, server, tool: name, args, annotations } = call;
  await history.load(client);
  const use = { kind: 'tool', origin: { server, name }, name, method: CALL_TOOL, args, annotations } as const;
  const { decision } = judge.judge(use, client);
  const checked = judge.explain(use, client).map(toChecked);
  const why = checked.find(({ decides }) => decides)?.why ?? 'no rule matches, so it is allowed';
  return { by: 'rules', effect: decision?.effect ?? 'allow', rule: decision?.rule ?? null, why, checked };
}

function toChecked({ rule: name, decides, found }: ExplainedRule): CheckedRule {
  return { name, decides, why: WORDS[String(found)]! };
}
