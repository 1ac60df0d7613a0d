// Which tool, prompt, resource or template a request is about. Clients may send further members, and servers ignore them: so the method decides which
// member counts, and in a completion the type of its reference. All who judge, route or record a request read it here.
import { dictionary } from './containers/dictionary.ts';
import { GatewayError } from './base/errors.ts';
import { isObject } from './message.ts';
import type { JsonObject } from './message.ts';
import { COMPLETE_ARGUMENT, methodsWhere, rowOf } from './methods.ts';

const NAMED_BY: Readonly<Record<string, string | undefined>> = dictionary(
  Object.fromEntries(methodsWhere(({ named }) => named).map((method) => [method, rowOf(method)!.named])),
);

/** What kind of thing a request names in its params. A completion is not among them: its reference says what it is about. */
export function kindNamedBy(method: string): 'tool' | 'prompt' | 'resource' | undefined {
  const row = rowOf(method);
  if (row?.named === undefined) return undefined;
  return row.area === 'tools' ? 'tool' : row.area === 'prompts' ? 'prompt' : 'resource';
}

/** The name of a tool or prompt, or a URI, as far as the request has one. */
export function nameIn(method: string, params: JsonObject): string | undefined {
  if (method === COMPLETE_ARGUMENT) {
    const { ref } = params;
    const named = isObject(ref) ? (ref.type === 'ref/prompt' ? ref.name : ref.uri) : undefined;
    return typeof named === 'string' ? named : undefined;
  }
  const member = NAMED_BY[method];
  const named = member === undefined ? (params.name ?? params.uri ?? params.toolName) : params[member];
  return typeof named === 'string' ? named : undefined;
}

export type CompletedThing = { prompt: string } | { template: string };

/** What a completion is about. Throws if that is not clear: one reader could take the name, and another one the URI. */
export function readRef({ ref }: JsonObject): CompletedThing {
  if (isObject(ref)) {
    const { type, name, uri } = ref;
    if (type === 'ref/prompt' && typeof name === 'string' && uri === undefined) return { prompt: name };
    if (type === 'ref/resource' && typeof uri === 'string' && name === undefined) return { template: uri };
  }
  const error = 'Must be { type: "ref/prompt", name } or { type: "ref/resource", uri }';
  throw new GatewayError('INVALID_PARAMS', { parameter: 'ref', error });
}
