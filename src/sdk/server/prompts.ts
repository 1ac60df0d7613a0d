// The prompts of a server: registration, lists and prompts/get.
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { MISSING, readString, readStrings, toInvalid } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { ExchangeCall } from './call.ts';
import type { Changes } from './changes.ts';
import { DefinitionRegistry, toListEntry } from './definition-registry.ts';
import type { Definition } from './definition-registry.ts';
import { toListResult } from './list-pages.ts';
import type { Completer, PromptGetter, PromptOptions, PromptReturn, Registration, ServerOptions } from './types.ts';

interface PromptEntry extends Definition {
  readonly required: string[];
  readonly description: string | undefined;
  readonly complete: Record<string, Completer> | undefined;
  readonly get: PromptGetter;
}

export class ServerPrompts {
  readonly registry: DefinitionRegistry<PromptEntry> = new DefinitionRegistry<PromptEntry>('prompt');
  readonly #options: ServerOptions;
  readonly #changes: Changes;

  constructor(options: ServerOptions, changes: Changes) {
    this.#options = options;
    this.#changes = changes;
    changes.track('prompts', this.registry);
  }

  add(name: string, options: PromptOptions, get: PromptGetter): Registration {
    const { only, description, complete } = options;
    const listed = toListEntry({ name }, options, { arguments: options.arguments });
    const required = (options.arguments ?? []).filter((argument) => argument.required).map((argument) => argument.name);
    const entry = { key: name, only, listed, required, description, complete, get };
    return this.#changes.register('prompts', this.registry, entry);
  }

  isOffered(client: ClientView): boolean {
    return this.registry.isOffered(client);
  }

  list(exchange: Exchange): JsonObject {
    return toListResult('prompts', this.registry.listed(exchange.client), { exchange, options: this.#options });
  }

  async get(exchange: Exchange): Promise<JsonObject> {
    const name = readString(exchange.params, 'name');
    const prompt = this.registry.find(name, exchange.client);
    if (prompt === undefined) throw new GatewayError('PROMPT_NOT_FOUND', { name });
    const args = readStrings(exchange.params, 'arguments');
    const missing = prompt.required.find((argument) => !Object.hasOwn(args, argument));
    if (missing !== undefined) throw toInvalid(missing, MISSING);
    return toPromptResult(await prompt.get(args, new ExchangeCall(exchange)), prompt.description);
  }
}

function toPromptResult(returned: PromptReturn, description: string | undefined): JsonObject {
  if (typeof returned !== 'string' && !Array.isArray(returned)) return { ...returned };
  const messages =
    typeof returned === 'string' ? [{ role: 'user', content: { type: 'text', text: returned } }] : returned;
  return { ...(description !== undefined && { description }), messages };
}
