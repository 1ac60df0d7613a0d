// What servers say of their tools, remembered from the lists that pass and looked up when it is needed.
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

/** More than a model can tell apart; beyond it they are looked up again. */
const MAX_TOOLS = 10_000;

export class ToolAnnotations {
  readonly #annotations = new BoundedMap<string, JsonObject>(MAX_TOOLS);

  /** Takes in a list that passes. */
  learn(exchange: StepExchange, result: JsonObject): void {
    this.#keep(exchange, toListEntries(result.tools));
  }

  /** Of the tool that is to be run; empty where there are none, or nobody can tell. */
  async annotations(tool: string, exchange: StepExchange, lookUp: LookUp): Promise<JsonObject> {
    return (await this.#find(tool, exchange, lookUp)) ?? {};
  }

  /**
   * Refuses a name that is not listed: a rule cannot know what a server would take it for. Undefined where that needs no waiting. Where the
   * list cannot be had, the server has the last word.
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
      return {}; // the server is in trouble, or this would not be asked
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
      if (isGatewayTool(tool)) continue; // says nothing of a tool that a server calls the same
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
