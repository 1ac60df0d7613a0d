// Completes arguments of prompts and templates while a user types. Unknown names get no values, as clients ask at every key stroke and
// should not get errors.
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { readObject, readOptionalObject, readString, readStrings } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { DefinitionRegistry, Definition } from './definition-registry.ts';
import type { Completer, Completion } from './types.ts';

const MAX_VALUES = 100;

type Completable = Pick<DefinitionRegistry<Definition & { complete: Completers }>, 'find' | 'visible'>;
type Completers = Record<string, Completer> | undefined;

interface CompletionSources {
  prompts: Completable;
  templates: Completable;
}

export async function complete(sources: CompletionSources, exchange: Exchange): Promise<JsonObject> {
  const ref = readObject(exchange.params, 'ref');
  const argument = readObject(exchange.params, 'argument');
  const name = readString(argument, 'name', 'argument.name');
  const value = readString(argument, 'value', 'argument.value');
  const context = readOptionalObject(exchange.params, 'context') ?? {};
  const completers = findCompleters(ref, sources, exchange.client) ?? {};
  const completer = Object.hasOwn(completers, name) ? completers[name] : undefined;
  const given = await completer?.(value, { arguments: readStrings(context, 'arguments', 'context.arguments') });
  return { completion: toCompletion(given ?? []) };
}

function findCompleters(ref: JsonObject, sources: CompletionSources, client: ClientView): Completers {
  const type = readString(ref, 'type', 'ref.type');
  if (type === 'ref/prompt') return sources.prompts.find(readString(ref, 'name', 'ref.name'), client)?.complete;
  if (type !== 'ref/resource') return undefined;
  const uri = normalized(readString(ref, 'uri', 'ref.uri'));
  return sources.templates.visible(client).find(({ key }) => normalized(key) === uri)?.complete;
}

/** `file:///{path}` and `file://{path}` are used for the same template. */
function normalized(template: string): string {
  return template.replace(/^file:\/\/\/\{/, 'file://{');
}

function toCompletion(given: Awaited<ReturnType<Completer>>): JsonObject {
  const { values, total, hasMore }: { values: Completion[]; total?: number; hasMore?: boolean } = Array.isArray(given)
    ? { values: given, total: given.length }
    : given;
  const shown = values.slice(0, MAX_VALUES);
  const isCut = values.length > shown.length || (total ?? 0) > shown.length;
  const all = total ?? (hasMore === true ? undefined : values.length);
  return { values: shown, ...(all !== undefined && { total: all }), hasMore: hasMore ?? isCut };
}
