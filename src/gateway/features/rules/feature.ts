// What clients may use, judged for each request.
import type { Member } from '../../router/member.ts';
import { defineFeature } from '../feature.ts';
import { GatewayRules } from './gateway-rules.ts';
import type { RuleOptions } from './rule.ts';

export interface RulesFeatureOptions {
  /** What clients may use, judged for each request: the first rule that matches decides. */
  rules?: readonly RuleOptions[] | undefined;
}

export interface RulesSettings {
  /** Whether rules believe what the server says about its own tools, such as that one only reads. Default: false. */
  trustAnnotations?: boolean | undefined;
}

export const rules = defineFeature<RulesFeatureOptions>({
  name: 'rules',
  create({ rules: given = [] }, { gateway, log, clock, state }) {
    const ruling = new GatewayRules();
    ruling.rules = given;
    return {
      liveSettings: ['trustAnnotations'],
      get ready() {
        return ruling.ready;
      },
      steps: (members) =>
        ruling.steps({
          servers: gateway.servers,
          trustedAnnotations: serversWithTrustedAnnotations(members),
          log,
          clock,
          state,
        }),
      update(next: RulesFeatureOptions) {
        if (!('rules' in next)) return undefined;
        ruling.rules = next.rules ?? [];
        return 'steps';
      },
      rules: () => ruling.shown,
      judge: (call) => ruling.judge(call),
      checkpoint: () => ruling.checkpoint(),
    };
  },
});

/** The servers whose annotations rules believe. */
function serversWithTrustedAnnotations(members: readonly Member[]): ReadonlySet<string> {
  const trusted = members.filter(({ settings = {} }) => (settings as RulesSettings).trustAnnotations === true);
  return new Set(trusted.map(({ name }) => name));
}
