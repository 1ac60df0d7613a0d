// The tools of all servers: what they cost the context of a model, how often they were called, and definitions that wait to be accepted. For the
// operator: what others may see, rules decide for each of them.
import { visible } from '../../../kernel/base/visible.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { tokensOfTool } from '../../../kernel/text/tool-cost.ts';
import { OBSERVER, lookAtTools } from '../../servers/gateway-status.ts';
import type { Member } from '../../router/member.ts';
import type { GatewayContext } from '../feature.ts';
import type { CallRing } from './calls/call-ring.ts';
import type { ToolRow, ToolsView } from './views.ts';

interface ToolSources {
  readonly context: GatewayContext;
  readonly calls: CallRing;
}

const LOOK_MS = 5000;
const MAX_TEXT = 20_000;

export class Tools {
  readonly #from: ToolSources;

  constructor(from: ToolSources) {
    this.#from = from;
  }

  async view(): Promise<ToolsView> {
    const { gateway } = this.#from.context;
    const used = this.#from.calls.countByTool();
    const found = await Promise.all(gateway.members.map((member) => this.#toolsOf(member, used)));
    return { tools: found.flat(), pins: await gateway.waitingDefinitions() };
  }

  async #toolsOf({ name: server, target }: Member, used: ReadonlyMap<string, number>): Promise<ToolRow[]> {
    const giveUp = new AbortController();
    let rows: ToolRow[] = [];
    const looked = lookAtTools(target, giveUp.signal).then(async (tools) => {
      const held = target.heldBack?.('tools');
      const free = tools.filter(({ name }) => !held?.has(String(name)));
      const shown = await this.#from.context.gateway.shownTools({ server, tools: free }, OBSERVER);
      const costs = new Map(shown.map((tool) => [String(tool.name), tokensOfTool(tool)]));
      rows = tools.map((tool) => {
        const name = String(tool.name);
        const state = held?.has(name) ? 'held' : costs.has(name) ? 'shown' : 'hidden';
        return {
          ...toToolRow(server, tool),
          state,
          tokens: costs.get(name) ?? null,
          calls: used.get(`${server} ${name}`) ?? 0,
        };
      });
    });
    if (!(await settledWithin(looked, LOOK_MS))) giveUp.abort();
    return rows;
  }
}

function toToolRow(server: string, { name, description, inputSchema, annotations }: JsonObject) {
  const hints = isObject(annotations) ? annotations : {};
  return {
    server,
    name: visible(String(name)),
    isReadOnly: hints.readOnlyHint === true,
    isDestructive: hints.destructiveHint === true,
    description: toText(typeof description === 'string' ? description : ''),
    schema: toText(JSON.stringify(inputSchema ?? {}, null, 2)),
  };
}

/** Lines stay lines. */
function toText(text: string): string {
  return text.slice(0, MAX_TEXT).split('\n').map(visible).join('\n');
}
