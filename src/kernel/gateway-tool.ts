// A tool that the gateway itself provides. It passes the steps like the tools of servers: it is listed after them, and
// its calls are logged, filtered and counted. Its name never changes, because the texts of other results mention it.
import type { Exchange } from './exchange.ts';
import { isObject } from './message.ts';
import type { JsonObject } from './message.ts';
import { toPlainObject } from './raw/raw-object.ts';
import type { ResultObject } from './raw/raw-object.ts';
import type { HandleResult, Target } from './target.ts';
import { CALL_TOOL, LIST_TOOLS } from './methods.ts';
import type { GatewayTool } from './exchange.ts';

/** A symbol cannot come from a server's JSON. Copies of the entry keep it. */
const MARK = Symbol.for('mcp-parley.own-tool');

export function toGatewayTool(entry: JsonObject): JsonObject {
  return { ...entry, [MARK]: true };
}

export function isGatewayTool(entry: object): boolean {
  return MARK in entry;
}

/** Whether a request calls the gateway's tool, and not a server's tool of the same name. */
export function isGatewayToolCall({ method, params, ownTool }: Exchange): boolean {
  return method === CALL_TOOL && ownTool !== undefined && params.name === ownTool.name;
}

/** Hands the request to the servers, unless it is for the gateway's tool; adds that tool to the last page of the list. */
export function handleWithGatewayTool(
  exchange: Exchange,
  own: GatewayTool,
  servers: Pick<Target, 'handle'>,
): HandleResult {
  if (exchange.method === LIST_TOOLS) return list(exchange, own, servers);
  return isGatewayToolCall(exchange) ? own.run(exchange) : servers.handle(exchange);
}

async function list(
  exchange: Exchange,
  { entry }: GatewayTool,
  servers: Pick<Target, 'handle'>,
): Promise<ResultObject> {
  const result = toPlainObject(await servers.handle(exchange));
  if (!Array.isArray(result.tools)) return result;
  // A server's tool of the same name would be unreachable for this client.
  const others = (result.tools as unknown[]).filter((tool) => !isObject(tool) || tool.name !== entry.name);
  return { ...result, tools: result.nextCursor === undefined ? [...others, entry] : others };
}
