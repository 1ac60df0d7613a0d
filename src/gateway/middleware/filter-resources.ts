// The part of `filter` that is about resources: lists, reading, subscriptions, completion, and what clients are told of them.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { Next, OriginOf, Outcome, Step, StepExchange } from '../../protocol/step.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { NameRule } from './name-rule.ts';
import { uriForms } from './uri-forms.ts';

interface List {
  area: string;
  key: string;
}

const LISTS: Record<string, List> = {
  'resources/list': { area: 'resources', key: 'uri' },
  'resources/templates/list': { area: 'resourceTemplates', key: 'uriTemplate' },
};
const USES = ['resources/read', 'resources/subscribe', 'resources/unsubscribe', 'completion/complete'];

/** `named` handles tools and prompts. */
export function filterResources(named: Step, isAllowed: NameRule): Step {
  const passes = (uri: unknown, originOf?: OriginOf): boolean => {
    if (typeof uri !== 'string') return true;
    const origin = originOf?.('resources', uri);
    if (!origin) return uriForms(uri).every((form) => isAllowed(form));
    return uriForms(origin.name).every((form) => isAllowed(uri, { ...origin, name: form }));
  };
  return {
    name: named.name,
    methods: [...new Set([...named.methods!, ...Object.keys(LISTS), ...USES])],
    handle: function filter(exchange, next, lookUp, originOf) {
      const uri = uriOf(exchange);
      if (!passes(uri, originOf)) throw new GatewayError('ACCESS_DENIED', { uri });
      const list = LISTS[exchange.method];
      if (list) return filtered(next, list, (one) => passes(one, originOf));
      return named.methods!.includes(exchange.method) ? named.handle!(exchange, next, lookUp, originOf) : next();
    },
    reword: named.reword,
    toolWords: named.toolWords,
    toolBehind: named.toolBehind,
    promptBehind: named.promptBehind,
    onChange(change, originOf) {
      if (change.kind === 'resource' && !passes(change.uri, originOf)) return undefined;
      return named.onChange!(change, originOf);
    },
  } satisfies Step;
}

async function filtered(next: Next, { area, key }: List, passes: (uri: unknown) => boolean): Promise<Outcome> {
  const outcome = await next();
  const entries = outcome.result[area];
  if (!Array.isArray(entries)) return outcome;
  const shown = entries.filter((entry: unknown) => !isObject(entry) || passes(entry[key]));
  if (shown.length < entries.length) outcome.result = { ...outcome.result, [area]: shown };
  return outcome;
}

/** The resource, or the template of resources, that a request is about. */
function uriOf({ method, params }: StepExchange): unknown {
  if (!USES.includes(method)) return undefined;
  const ref: JsonObject | undefined = isObject(params.ref) ? params.ref : undefined;
  return method === 'completion/complete' ? ref?.uri : params.uri;
}
