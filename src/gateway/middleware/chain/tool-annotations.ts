// Remembers the annotations of tools from passing lists, and fetches missing ones on demand.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { isGatewayTool } from '../../../protocol/gateway-tool.ts';
import type { LookUp, StepExchange } from '../../../protocol/step.ts';
import type { Change } from '../../../protocol/target.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { listAllEntries, toListEntries } from './list-entries.ts';
import type { ListEntry } from './list-entries.ts';
import type { ChainLookup } from '../steps/names/name-mapper.ts';

/** More than a model can tell apart; beyond it they are fetched again. */
const MAX_TOOLS = 10_000;

export class ToolAnnotations {
  readonly #annotations = new BoundedMap<string, JsonObject>(MAX_TOOLS);

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
  checkListed(tool: string, exchange: StepExchange, { lookUp, originOf }: ChainLookup): Promise<void> | undefined {
    if (this.#annotations.get(keyOf(exchange, tool))) return undefined;
    return this.#find(tool, exchange, lookUp).then((found) => {
      if (!found) throw originOf?.('tools', tool)?.away?.() ?? toUnknownTool(exchange.method, tool);
    });
  }

  async #find(tool: string, exchange: StepExchange, lookUp: LookUp): Promise<JsonObject | undefined> {
    const key = keyOf(exchange, tool);
    const known = this.#annotations.get(key);
    if (known) return known;
    try {
      this.#keep(exchange, await listAllEntries(lookUp, 'tools'));
    } catch {
      return {}; // the server is failing, and its error will follow
    }
    return this.#annotations.get(key);
  }

  hear(change: Change): Change {
    if (change.kind === 'tools') this.#annotations.clear();
    return change;
  }

  #keep(exchange: StepExchange, tools: ListEntry[]): void {
    for (const tool of tools) {
      const { name, annotations } = tool;
      if (isGatewayTool(tool)) continue; // a server may have a tool of the same name
      this.#annotations.set(keyOf(exchange, name), isObject(annotations) ? annotations : {});
    }
  }
}

export function toUnknownTool(method: string, name: string): GatewayError {
  if (method !== 'interaction.start') return new GatewayError('TOOL_NOT_FOUND', { name });
  return new GatewayError('INVALID_PARAMS', { data: { toolName: name, error: 'There is no such tool' } });
}

function keyOf({ scope }: StepExchange, name: string): string {
  return `${scope} ${name}`;
}
