// Remembers the annotations of tools from passing lists, and fetches missing ones on demand.
import type { JsonObject } from '../../kernel/message.ts';
import { isGatewayTool } from '../../kernel/gateway-tool.ts';
import type { LookUp, StepExchange } from '../../kernel/step.ts';
import type { Change } from '../../kernel/target.ts';
import { isRemembered } from '../../kernel/target.ts';
import { ToolFacts } from '../../kernel/tool-facts.ts';
import { FLOW_START } from '../../kernel/methods.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { listAllEntries, toListEntries } from './list-entries.ts';
import type { ListEntry } from './list-entries.ts';
import type { ChainLookup } from './map-names.ts';
import { whenStarted } from './when-started.ts';

export class ToolAnnotations {
  readonly #facts = new ToolFacts();

  learn(exchange: StepExchange, result: JsonObject): void {
    this.#keep(exchange, toListEntries(result.tools));
  }

  /** Empty if the tool has no annotations or the list is not available. */
  async annotations(tool: string, exchange: StepExchange, lookUp: LookUp): Promise<JsonObject> {
    return (await this.#find(tool, exchange, lookUp)) ?? {};
  }

  /**
   * Rejects an unlisted name: a rule cannot know which tool a server would run for it. Undefined if the tool is known. If the
   * list cannot be fetched, the server decides.
   */
  checkListed(tool: string, exchange: StepExchange, around: ChainLookup): Promise<void> | undefined {
    return this.#facts.get(keyOf(exchange, tool)) ? undefined : this.#requireListed(tool, exchange, around);
  }

  async #requireListed(tool: string, exchange: StepExchange, { lookUp, originOf }: ChainLookup): Promise<void> {
    await whenStarted('tools', tool, exchange, originOf);
    const found = await this.#find(tool, exchange, lookUp);
    if (!found) throw originOf?.('tools', tool)?.away?.() ?? toUnknownTool(exchange.method, tool);
  }

  async #find(tool: string, exchange: StepExchange, lookUp: LookUp): Promise<JsonObject | undefined> {
    const key = keyOf(exchange, tool);
    const known = this.#facts.get(key);
    if (known) return known.annotations;
    try {
      this.#keep(exchange, await listAllEntries(lookUp, 'tools'));
    } catch {
      return {}; // the server is failing, and its error will follow
    }
    return this.#facts.get(key)?.annotations;
  }

  hear(change: Change): Change {
    if (change.kind === 'tools') this.#facts.clear();
    return change;
  }

  #keep(exchange: StepExchange, tools: ListEntry[]): void {
    // A server may have a tool of the same name as one of the gateway.
    for (const tool of tools)
      if (!isGatewayTool(tool) && !isRemembered(tool)) this.#facts.note(keyOf(exchange, tool.name), tool);
  }
}

export function toUnknownTool(method: string, name: string): GatewayError {
  if (method !== FLOW_START) return new GatewayError('TOOL_NOT_FOUND', { name });
  return new GatewayError('INVALID_PARAMS', { data: { toolName: name, error: 'There is no such tool' } });
}

function keyOf({ scope }: StepExchange, name: string): string {
  return `${scope} ${name}`;
}
