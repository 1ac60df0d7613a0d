// Filters resources: lists, reads, subscriptions, completion and notifications. A request is checked twice: as it is written, and
// again with the server and URI that it is routed to (`resourceGuard`).
import { isObject } from '../../../../protocol/message.ts';
import type { LookUp, Next, OriginOf, Outcome, Step, StepExchange, StepFunction } from '../../../../protocol/step.ts';
import { GatewayError } from '../../../../shared/errors.ts';
import { byMethod } from '../names/map-names.ts';
import type { MethodStep } from '../names/map-names.ts';
import { completedArguments, expandTemplate, withValues } from './completed-values.ts';
import type { UriRule } from './uri-rule.ts';

interface List {
  area: string;
  key: string;
}

/** `named` handles tools and prompts. */
export function filterResources({ handlers, ...named }: MethodStep, isAllowed: UriRule): Step {
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
    const named = handlers['completion/complete'];
    const template = isObject(params.ref) ? params.ref.uri : undefined;
    if (template === undefined) return named ? named(...step) : next();
    const isShown = (value: string): boolean =>
      passes(expandTemplate(String(template), completedArguments(params, value)));
    return admit(template, async () => withValues(await (named ? named(...step) : next()), isShown), step);
  };
  return {
    ...named,
    ...byMethod({
      ...handlers,
      'resources/list': list({ area: 'resources', key: 'uri' }),
      'resources/templates/list': list({ area: 'resourceTemplates', key: 'uriTemplate' }),
      'resources/read': use,
      'resources/subscribe': use,
      'resources/unsubscribe': use,
      'completion/complete': complete,
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
