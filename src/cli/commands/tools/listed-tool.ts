// What is known of each listed tool: where it comes from, what it costs, and how often it was called.
import type { ServerStatus } from '../../../gateway/servers/gateway-status.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { tokensOfTool } from '../../../kernel/text/tool-cost.ts';
import { findOwningServer, ownNameOf } from '../../running/owning-server.ts';

export interface ListedTool {
  /** As clients see it. */
  name: string;
  /** `parley` for its own tools, `-` if it is unknown. */
  server: string;
  /** As its server calls it. */
  ownName: string;
  tokens: number;
  calls: number;
}

/** Calls by server and its own name of the tool. */
interface CallCounts {
  of(server: string, tool: string): number;
}

export interface ServerCost {
  server: string;
  tools: number;
  tokens: number;
  calls: number;
}

/** The dearest first. */
export function toListedTools(
  tools: readonly JsonObject[],
  { servers, calls }: { servers: readonly ServerStatus[] | undefined; calls: CallCounts },
): ListedTool[] {
  const listed = tools.map((tool) => {
    const name = String(tool.name);
    const server = (servers && findOwningServer('tools', tool, servers)) ?? '-';
    const ownName = ownNameOf(name, server);
    return { name, server, ownName, tokens: tokensOfTool(tool), calls: calls.of(server, ownName) };
  });
  return listed.toSorted((a, b) => b.tokens - a.tokens || a.name.localeCompare(b.name));
}

/** The dearest first. */
export function toServerCosts(tools: readonly ListedTool[]): ServerCost[] {
  const costs = new Map<string, ServerCost>();
  for (const { server, tokens, calls } of tools) {
    const known = costs.get(server) ?? { server, tools: 0, tokens: 0, calls: 0 };
    costs.set(server, { server, tools: known.tools + 1, tokens: known.tokens + tokens, calls: known.calls + calls });
  }
  return [...costs.values()].toSorted((a, b) => b.tokens - a.tokens || a.server.localeCompare(b.server));
}
