// The rules in the settings of servers: which tools clients see, and which need approval.
import type { Member } from '../../router/member.ts';
import { defineFeature } from '../feature.ts';
import { judgeByServer, serverRules } from './server-rules.ts';
import type { ToolRules } from './server-rules.ts';

export interface ToolSettings {
  /** Which of its tools clients see, and which need approval. */
  tools?: ToolRules | undefined;
}

export const toolRules = defineFeature<object>({
  name: 'tools of servers',
  create: (_options, { gateway }) => ({
    liveSettings: ['tools'],
    steps: (members) => serverRules(rulesOf(members)),
    async judge(call) {
      const rules = rulesOf(gateway.members).get(call.server);
      return rules && judgeByServer(rules, call);
    },
  }),
});

function rulesOf(members: readonly Member[]): ReadonlyMap<string, ToolRules> {
  const rules = new Map<string, ToolRules>();
  for (const { name, settings } of members) {
    const { tools } = (settings ?? {}) as ToolSettings;
    if (tools) rules.set(name, tools);
  }
  return rules;
}
