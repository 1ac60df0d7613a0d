// Hides tools, prompts and resources from clients. A denied tool or prompt is neither listed nor callable, as if it did not
// exist; a denied resource is refused. Deny wins over allow; an allow list denies everything else.
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';
import type { Step } from '../../../../protocol/step.ts';
import { filterResources } from './filter-resources.ts';
import { mapNamesByMethod } from '../names/map-names.ts';
import { toNameRule, toPermission, toToolRules } from './name-rule.ts';
import type { NameRule } from './name-rule.ts';
import { toUriRule } from './uri-rule.ts';
import { withDefaults } from '../../chain/step-options.ts';

/** Globs over names or URIs. */
export interface Rule {
  allow?: string[] | undefined;
  deny?: string[] | undefined;
}

/** `allow` and `deny` apply to names and URIs; `tools`, `prompts` and `resources` add rules for one kind. */
export interface FilterOptions extends Rule {
  tools?: Rule | undefined;
  prompts?: Rule | undefined;
  resources?: Rule | undefined;
}

const DEFAULTS = {
  allow: undefined,
  deny: undefined,
  tools: undefined,
  prompts: undefined,
  resources: undefined,
};

export function filter(options: FilterOptions = {}): Step {
  const { tools, prompts, resources, ...all } = withDefaults('filter', options, DEFAULTS);
  const rule = checkRule('filter', all);
  const allowed = (kind: string, own: Rule = {}) => toAllowed([rule, checkRule(`filter.${kind}`, own)]);
  const isTool = allowed('tools', tools);
  // An allow list is about the servers' tools, not the gateway's own.
  const isOwnTool = toAllowed([{ deny: rule.deny }, { deny: tools?.deny }]);
  const isPrompt = allowed('prompts', prompts);
  const isResource = toUriRule([rule, checkRule('filter.resources', resources ?? {})]);
  const named = mapNamesByMethod({
    name: 'filter',
    tools:
      isTool &&
      ((tool, origin) => {
        const isMeant = isGatewayTool(tool) ? isOwnTool?.(tool.name) !== false : isTool(tool.name, origin);
        return isMeant ? tool : undefined;
      }),
    prompts: isPrompt && ((prompt, origin) => (isPrompt(prompt.name, origin) ? prompt : undefined)),
    strict: true,
    toolRules: [
      ...toToolRules([...(rule.allow ?? []), ...(rule.deny ?? [])], { isForAll: true }),
      ...toToolRules([...(tools?.allow ?? []), ...(tools?.deny ?? [])]),
    ],
  });
  return isResource ? filterResources(named, isResource) : named;
}

/** Undefined if there are no rules. */
export function toAllowed(rules: Rule[]): NameRule | undefined {
  const checks = rules.flatMap(({ allow, deny }): NameRule[] => {
    const isDenied = deny && toNameRule(deny);
    return [...(allow ? [toPermission(allow)] : []), ...(isDenied ? [not(isDenied)] : [])];
  });
  return checks.length === 0 ? undefined : (name, origin) => checks.every((check) => check(name, origin));
}

function not(rule: NameRule): NameRule {
  return (name, origin) => !rule(name, origin);
}

function checkRule(option: string, rule: Rule): Rule {
  // Only checks: a missing list must stay missing, because an empty one allows nothing.
  withDefaults(option, rule, { allow: [], deny: [] });
  return rule;
}
