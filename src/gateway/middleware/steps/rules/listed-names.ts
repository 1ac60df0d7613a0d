// The tools and prompts that lists have shown, with the claims about them; missing ones are looked up.
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { isGatewayTool } from '../../../../protocol/gateway-tool.ts';
import type { StepExchange } from '../../../../protocol/step.ts';
import type { Change } from '../../../../protocol/target.ts';
import { BoundedMap } from '../../../../shared/containers/bounded-map.ts';
import { listAllEntries, toListEntries } from '../../chain/list-entries.ts';
import type { ChainLookup } from '../names/map-names.ts';

type Kind = 'tool' | 'prompt';

const MAX_NAMES = 10_000;
const NO_CLAIMS: JsonObject = {};

export class ListedNames {
  readonly #known = {
    tool: new BoundedMap<string, JsonObject>(MAX_NAMES),
    prompt: new BoundedMap<string, JsonObject>(MAX_NAMES),
  };

  /** The annotations; undefined if no list has shown it. */
  find(kind: Kind, name: string, { scope }: StepExchange): JsonObject | undefined {
    return this.#known[kind].peek(`${scope} ${name}`);
  }

  /** The same after listing. Rejects if there is no list, because then it is unknown what would run. */
  async require(
    kind: Kind,
    name: string,
    exchange: StepExchange,
    { lookUp }: ChainLookup,
  ): Promise<JsonObject | undefined> {
    const known = this.find(kind, name, exchange);
    if (known) return known;
    this.learn(kind, exchange, await listAllEntries(lookUp, `${kind}s`));
    return this.find(kind, name, exchange);
  }

  learn(kind: Kind, { scope }: StepExchange, entries: unknown): void {
    for (const entry of toListEntries(entries)) {
      if (isGatewayTool(entry)) continue; // a server may have a tool of the same name
      this.#known[kind].set(`${scope} ${entry.name}`, isObject(entry.annotations) ? entry.annotations : NO_CLAIMS);
    }
  }

  hear({ kind }: Change): void {
    if (kind === 'tools') this.#known.tool.clear();
    if (kind === 'prompts') this.#known.prompt.clear();
  }
}
