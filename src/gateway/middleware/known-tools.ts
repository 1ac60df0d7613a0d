// What servers say of their tools, remembered from the lists that pass and looked up when it is needed.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import type { LookUp, StepExchange } from '../../protocol/step.ts';
import type { Change } from '../../protocol/target.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import { listAll, toListed } from './list-all.ts';
import type { Listed } from './list-all.ts';

/** More than a model can tell apart; beyond it they are looked up again. */
const MAX_TOOLS = 10_000;

export class KnownTools {
  readonly #annotations = new BoundedMap<string, JsonObject>(MAX_TOOLS);

  /** Takes in a list that passes. */
  learn(exchange: StepExchange, result: JsonObject): void {
    this.#keep(exchange, toListed(result.tools));
  }

  /** Of the tool that is to be run; empty where there are none, or nobody can tell. */
  async annotations(tool: string, exchange: StepExchange, lookUp: LookUp): Promise<JsonObject> {
    const key = keyOf(exchange, tool);
    const known = this.#annotations.get(key);
    if (known) return known;
    try {
      this.#keep(exchange, await listAll(lookUp, 'tools'));
    } catch {
      return {}; // the server is in trouble, or this would not be asked
    }
    return this.#annotations.get(key) ?? {};
  }

  hear(change: Change): Change {
    if (change.kind === 'tools') this.#annotations.clear();
    return change;
  }

  #keep(exchange: StepExchange, tools: Listed[]): void {
    for (const { name, annotations } of tools) {
      this.#annotations.set(keyOf(exchange, name), isObject(annotations) ? annotations : {});
    }
  }
}

function keyOf({ scope }: StepExchange, name: string): string {
  return `${scope} ${name}`;
}
