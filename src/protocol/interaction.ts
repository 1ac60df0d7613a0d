// MCP Flow in the neutral model: its methods are named the same in every era, and what a server can do of it stands in its
// capabilities under `experimental.mcpFlow`.
import type { ClientCapabilities, ServerCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from './message.ts';
import { isObject, present } from './message.ts';
import { toInvalid } from './params.ts';

export const FLOW_VERSION = '0.1.0';

/** In `_meta` of `interaction.start`: an id that the client makes, so that a start that is sent again is the same session. */
export const START_ID = 'mcp-parley/start-id';

export function readStartId({ _meta: meta }: JsonObject): string | undefined {
  const startId = isObject(meta) ? meta[START_ID] : undefined;
  if (startId === undefined) return undefined;
  if (typeof startId === 'string' && startId.length >= 16 && startId.length <= 200) return startId;
  throw toInvalid(
    `_meta["${START_ID}"]`,
    'Must be a text of 16 to 200 characters that nobody else has, such as a UUID',
  );
}

/**
 * In `_meta` of `interaction.respond`, put there by a gateway: the client did not name the prompt that it answers, nor has it acknowledged
 * the one that it was sent last and that is named here for it.
 */
export const UNACKNOWLEDGED = 'mcp-parley/unacknowledged';

export function isUnacknowledged({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && meta[UNACKNOWLEDGED] === true;
}

/** Whether a request or notification is about an interactive session, whoever sends it. */
export function isInteraction(method: string): boolean {
  return method.startsWith('interaction.');
}

/** What a peer declares of MCP Flow; undefined where it says nothing. Some put it among the capabilities themselves. */
export function flowOf(capabilities: ServerCapabilities | ClientCapabilities): JsonObject | undefined {
  const { experimental, interactive, version, features } = capabilities as JsonObject;
  const declared = isObject(experimental) ? experimental.mcpFlow : undefined;
  if (isObject(declared)) return declared;
  return typeof interactive === 'boolean' ? present({ interactive, version, features }) : undefined;
}

/** Ours: said beside the declaration by servers whose interactive tools can be called as well, and then ask like any other. */
const CALLS = 'mcp-parley/flow';

export function withCalls(declaration: JsonObject, more: JsonObject = {}): { experimental: JsonObject } {
  return { experimental: { mcpFlow: declaration, [CALLS]: { calls: true, ...more } } };
}

/** Whether a start that is sent again with the same id is the same session. */
export function takesStartIds({ experimental }: ServerCapabilities): boolean {
  const said = (experimental as JsonObject | undefined)?.[CALLS];
  return isObject(said) && said.startIds === true;
}

export function playsCalls({ experimental }: ServerCapabilities): boolean {
  const said = (experimental as JsonObject | undefined)?.[CALLS];
  return isObject(said) && said.calls === true;
}
