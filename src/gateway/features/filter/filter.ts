// Hides tools, prompts and resources from clients. A denied tool or prompt is neither listed nor callable, as if it did not
// exist; a denied resource is refused. Deny wins over allow; an allow list denies everything else.
import { isGatewayTool } from '../../../kernel/gateway-tool.ts';
import type { Step, LookUp, Next, OriginOf, Outcome, StepExchange, StepFunction } from '../../../kernel/step.ts';
import { isObject } from '../../../kernel/message.ts';
import { readRef } from '../../../kernel/named-thing.ts';
import { COMPLETE_ARGUMENT, LIST_RESOURCES, LIST_TEMPLATES, methodsWhere, rowOf } from '../../../kernel/methods.ts';
import type { MethodRow } from '../../../kernel/methods.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { withDefaults } from '../../chain/step-options.ts';
import { mapNamesByMethod, byMethod } from '../../chain/map-names.ts';
import type { MethodStep } from '../../chain/map-names.ts';
import { toNameRule, toPermission, toToolRules } from '../../matching/name-rule.ts';
import type { Rule } from '../../matching/name-rule.ts';
import type { NameRule } from '../../matching/name-rule.ts';
import { toUriRule } from '../../matching/uri-rule.ts';
import type { UriRule } from '../../matching/uri-rule.ts';
import { completedArguments, expandTemplate, withValues } from '../../matching/completed-values.ts';

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

/**
 * Hides and refuses tools, prompts and resources by globs.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { filter } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [filter({ deny: ['delete_*'] })] });
 * ```
 */
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

interface List {
  area: string;
  key: string;
}

function isResourceList({ kind, area }: MethodRow): boolean {
  return kind === 'list' && area !== 'tools' && area !== 'prompts';
}

function toList({ area }: MethodRow): List {
  return { area: area!, key: area === 'resourceTemplates' ? 'uriTemplate' : 'uri' };
}

/**
 * Filters resources: lists, reads, subscriptions, completion and notifications. A request is checked twice: as it is written, and again with the
 * server and URI that it is routed to (`resourceGuard`). `named` handles tools and prompts.
 */
function filterResources({ handlers, ...named }: MethodStep, isAllowed: UriRule): Step {
  const passes = (uri: unknown, originOf?: OriginOf): boolean =>
    typeof uri !== 'string' || isAllowed(uri, originOf?.('resources', uri));
  const list =
    (shown: List): StepFunction =>
    (_exchange, next, _lookUp, originOf) =>
      filtered(next, shown, (one) => passes(one, originOf));
  /** Calls `end` if the resource or template may be used. */
  const admit = (uri: unknown, end: Next, [exchange, , lookUp, originOf]: Parameters<StepFunction>) => {
    if (typeof uri !== 'string')
      throw new GatewayError('INVALID_PARAMS', { parameter: 'uri', error: 'Required parameter missing' });
    guard(exchange, uri, isAllowed);
    return passes(uri, originOf) ? end() : requireAfterLists(uri, isAllowed, lookUp, originOf).then(end);
  };
  const use: StepFunction = (...step) => admit(step[0].params.uri, step[1], step);
  /** What a template suggests has to be a resource that may be read. A prompt is completed by its name. */
  const complete: StepFunction = (...step) => {
    const [{ params }, next] = step;
    const named = handlers[COMPLETE_ARGUMENT];
    const about = readRef(params);
    if ('prompt' in about) return named ? named(...step) : next();
    const { template } = about;
    const isShown = (value: string): boolean => passes(expandTemplate(template, completedArguments(params, value)));
    return admit(template, async () => withValues(await (named ? named(...step) : next()), isShown), step);
  };
  const lists = Object.fromEntries(
    methodsWhere(isResourceList).map((method) => [method, list(toList(rowOf(method)!))]),
  );
  const uses = Object.fromEntries(methodsWhere(({ named: by }) => by === 'uri').map((method) => [method, use]));
  return {
    ...named,
    ...byMethod({
      ...handlers,
      ...lists,
      ...uses,
      [COMPLETE_ARGUMENT]: complete,
    }),
    onChange(change, originOf) {
      if (change.kind === 'resource') {
        const origin = change.origin ?? originOf?.('resources', change.uri);
        if (!isAllowed(change.uri, origin)) return undefined;
      }
      return named.onChange!(change, originOf);
    },
  } satisfies Step;
}

/** A rule may permit the resource by its server, which only the lists tell. */
async function requireAfterLists(uri: string, isAllowed: UriRule, lookUp: LookUp, originOf?: OriginOf): Promise<void> {
  const known = originOf?.('resources', uri);
  if (!known && originOf) await Promise.allSettled([lookUp(LIST_RESOURCES), lookUp(LIST_TEMPLATES)]);
  const origin = known ? undefined : originOf?.('resources', uri);
  if (!origin || !isAllowed(uri, origin)) throw new GatewayError('ACCESS_DENIED', { uri });
}

function guard(exchange: StepExchange, uri: string, isAllowed: UriRule): void {
  const { resourceGuard } = exchange;
  exchange.resourceGuard = (resource) => isAllowed(uri, resource) && resourceGuard?.(resource) !== false;
}

async function filtered(next: Next, { area, key }: List, passes: (uri: unknown) => boolean): Promise<Outcome> {
  const outcome = await next();
  const entries = outcome.result[area];
  if (!Array.isArray(entries)) return outcome;
  const shown = entries.filter((entry: unknown) => !isObject(entry) || passes(entry[key]));
  if (shown.length < entries.length) outcome.result = { ...outcome.result, [area]: shown };
  return outcome;
}
