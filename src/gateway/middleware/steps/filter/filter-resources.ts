// Filters resources: lists, reads, subscriptions, completion and notifications. A request is checked twice: as it is written, and
// again with the server and URI that it is routed to (`resourceGuard`).
import { isObject } from '../../../../protocol/message.ts';
import type { LookUp, Next, OriginOf, Outcome, Step, StepExchange } from '../../../../protocol/step.ts';
import { dictionary } from '../../../../shared/containers/dictionary.ts';
import { GatewayError } from '../../../../shared/errors.ts';
import { completedArguments, expandTemplate, withValues } from './completed-values.ts';
import type { UriRule } from './uri-rule.ts';

interface List {
  area: string;
  key: string;
}

const LISTS: Record<string, List> = dictionary({
  'resources/list': { area: 'resources', key: 'uri' },
  'resources/templates/list': { area: 'resourceTemplates', key: 'uriTemplate' },
});
/** The one method that may name a prompt or a resource. */
const COMPLETION = 'completion/complete';
const USES = ['resources/read', 'resources/subscribe', 'resources/unsubscribe', COMPLETION];

/** `named` handles tools and prompts. */
export function filterResources(named: Step, isAllowed: UriRule): Step {
  const passes = (uri: unknown, originOf?: OriginOf): boolean =>
    typeof uri !== 'string' || isAllowed(uri, originOf?.('resources', uri));
  /** What a template suggests has to be a resource that may be read. */
  const complete = (outcome: Outcome, { params }: StepExchange, template: string): Outcome =>
    withValues(outcome, (value) => passes(expandTemplate(template, completedArguments(params, value))));
  return {
    name: named.name,
    methods: [...new Set([...named.methods!, ...Object.keys(LISTS), ...USES])],
    handle: function filter(exchange, next, lookUp, originOf) {
      const { method } = exchange;
      const isNamed = named.methods!.includes(method);
      if (isNamed && method !== COMPLETION) return named.handle!(exchange, next, lookUp, originOf);
      const list = LISTS[method];
      if (list) return filtered(next, list, (one) => passes(one, originOf));
      const goOn = () => (isNamed ? named.handle!(exchange, next, lookUp, originOf) : next());
      const uri = uriOf(exchange);
      if (uri === undefined) return goOn();
      guard(exchange, uri, isAllowed);
      const end = method === COMPLETION ? async () => complete(await goOn(), exchange, uri) : goOn;
      return passes(uri, originOf) ? end() : requireAfterLists(uri, isAllowed, lookUp, originOf).then(end);
    },
    reword: named.reword,
    toolRules: named.toolRules,
    toolBehind: named.toolBehind,
    promptBehind: named.promptBehind,
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
  if (!known && originOf) await Promise.allSettled([lookUp('resources/list'), lookUp('resources/templates/list')]);
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

/** The resource or template of a request. */
function uriOf({ method, params }: StepExchange): string | undefined {
  const isCompletion = method === COMPLETION;
  const { ref } = params;
  const uri = isCompletion ? (isObject(ref) ? ref.uri : undefined) : params.uri;
  if (typeof uri === 'string') return uri;
  if (isCompletion && uri === undefined) return undefined;
  throw new GatewayError('INVALID_PARAMS', { parameter: 'uri', error: 'Required parameter missing' });
}
