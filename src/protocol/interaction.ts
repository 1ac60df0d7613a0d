// MCP Flow in the neutral model: its methods have the same names in every era, and servers declare it under
// `experimental.mcpFlow`.
import type { ClientCapabilities, ServerCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from './message.ts';
import { isObject, present } from './message.ts';
import { toInvalid } from './params.ts';

export const FLOW_VERSION = '0.1.0';

/** In `_meta` of `interaction.start`: an id chosen by the client, so that a repeated start yields the same session. */
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
 * In `_meta` of `interaction.respond`, added by a gateway: the client neither named the prompt it answers nor
 * acknowledged the last one it was sent, which the gateway named for it.
 */
export const UNACKNOWLEDGED = 'mcp-parley/unacknowledged';

export function isUnacknowledged({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && meta[UNACKNOWLEDGED] === true;
}

/** Whether a message is about an interactive session. */
export function isInteraction(method: string): boolean {
  return method.startsWith('interaction.');
}

/** A peer's MCP Flow declaration, if any. Some put it among the capabilities themselves. */
export function flowOf(capabilities: ServerCapabilities | ClientCapabilities): JsonObject | undefined {
  const { experimental, interactive, version, features } = capabilities as JsonObject;
  const declared = isObject(experimental) ? experimental.mcpFlow : undefined;
  if (isObject(declared)) return declared;
  return typeof interactive === 'boolean' ? present({ interactive, version, features }) : undefined;
}

/** Ours: declared by servers whose interactive tools can also be called, and then ask like any other tool. */
const CALLS = 'mcp-parley/flow';

export function withCalls(declaration: JsonObject, more: JsonObject = {}): { experimental: JsonObject } {
  return { experimental: { mcpFlow: declaration, [CALLS]: { calls: true, ...more } } };
}

/** Whether a repeated start with the same id yields the same session. */
export function takesStartIds({ experimental }: ServerCapabilities): boolean {
  const said = (experimental as JsonObject | undefined)?.[CALLS];
  return isObject(said) && said.startIds === true;
}

export function playsCalls({ experimental }: ServerCapabilities): boolean {
  const said = (experimental as JsonObject | undefined)?.[CALLS];
  return isObject(said) && said.calls === true;
}
