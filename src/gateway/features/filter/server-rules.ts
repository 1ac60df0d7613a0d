// The rules in a server's settings: which of its tools clients may see and call, and which need approval. They are the innermost
// steps of every chain, so they judge exactly what the server will get.
import type { SupposedCall } from '../feature.ts';
import type { JudgedCall } from '../judged-call.ts';
import { isGatewayTool } from '../../../kernel/gateway-tool.ts';
import type { Step, ToolRule } from '../../../kernel/step.ts';
import { readRule } from '../approve/approval-rule.ts';
import type { ApproveWhen, Judge } from '../approve/approval-rule.ts';
import { approveBy } from '../approve/approve.ts';
import { toAllowed } from './filter.ts';
import { mapNames } from '../../chain/map-names.ts';
import { toToolRules } from '../../matching/name-rule.ts';
import type { NameRule } from '../../matching/name-rule.ts';
import { badOption, withDefaults } from '../../chain/step-options.ts';

/** Globs over the server's own tool names. */
export interface ToolRules {
  /** Shows only these. */
  allow?: readonly string[] | undefined;
  /** Hides these; wins over `allow`. */
  deny?: readonly string[] | undefined;
  /** Requires approval for these: `destructive`, `always`, or globs. */
  approve?: ApproveWhen | undefined;
}

/** The steps for all servers with rules; empty without rules. */
export function serverRules(byServer: ReadonlyMap<string, ToolRules>): Step[] {
  const allowed = new Map<string, NameRule>();
  const judges = new Map<string, Judge>();
  for (const [server, rules] of byServer) {
    const { allow, deny, approve } = readRules(server, rules);
    const isAllowed = toAllowed([{ ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) }]);
    if (isAllowed) allowed.set(server, isAllowed);
    if (approve !== undefined) judges.set(server, readRule(approve));
  }
  const toolRules = [...byServer].flatMap(([server, { allow = [], deny = [] }]) =>
    toToolRules([...allow, ...deny], { server }),
  );
  return [
    ...(allowed.size > 0 ? [filterBy(allowed, toolRules)] : []),
    ...(judges.size > 0 ? [approveBy(judgeBy(judges))] : []),
  ];
}

/** What they would do with a call of a tool of the server. */
export async function judgeByServer(rules: ToolRules, call: SupposedCall): Promise<JudgedCall> {
  const { server, tool, annotations } = call;
  const { allow, deny, approve } = readRules(server, rules);
  const origin = { server, name: tool };
  const told = (effect: JudgedCall['effect'], rule: string | null, why: string): JudgedCall => {
    return {
      by: `the settings of ${server}`,
      effect,
      rule: rule && `servers.${server}.tools.${rule}`,
      why,
      checked: [],
    };
  };
  if (deny && !toAllowed([{ deny: [...deny] }])!(tool, origin)) return told('hide', 'deny', 'it is denied by its name');
  if (allow && !toAllowed([{ allow: [...allow] }])!(tool, origin))
    return told('hide', 'allow', 'only the tools that are named there are shown');
  const wanted =
    approve === undefined ? 'allow' : await readRule(approve).judge({ name: tool, origin }, async () => annotations);
  return wanted === 'allow'
    ? told('allow', null, 'nothing there is against it')
    : told(wanted, 'approve', 'a person is asked first');
}

function readRules(server: string, rules: ToolRules): ToolRules {
  const option = `servers.${server}.tools`;
  withDefaults(option, rules, { allow: [], deny: [], approve: undefined });
  for (const kind of ['allow', 'deny'] as const) {
    const isList = rules[kind] === undefined || rules[kind].every((glob) => typeof glob === 'string');
    if (!isList) throw badOption(`${option}.${kind}`, 'must be a list of globs');
  }
  return rules;
}

function filterBy(allowed: ReadonlyMap<string, NameRule>, toolRules: readonly ToolRule[]): Step {
  return mapNames({
    name: 'tools of servers',
    toolRules,
    strict: true,
    tools: (tool, origin) => {
      const isAllowed = origin && allowed.get(origin.server);
      return !isAllowed || isGatewayTool(tool) || isAllowed(tool.name, origin) ? tool : undefined;
    },
  });
}

function judgeBy(judges: ReadonlyMap<string, Judge>): Judge {
  return {
    byAnnotations: [...judges.values()].some(({ byAnnotations }) => byAnnotations),
    rules: [...judges].flatMap(([server, { rules }]) => rules.map((rule) => ({ ...rule, server }))),
    judge: async (tool, annotations) =>
      (await judges.get(tool.origin?.server ?? '')?.judge(tool, annotations)) ?? 'allow',
  };
}
