// MCP Flow in the neutral model: its methods have the same names in every era, and servers declare it under
// `experimental.mcpFlow`.
import type { ClientCapabilities, ServerCapabilities } from '@modelcontextprotocol/client';
import { sha256 } from './crypto/lazy-crypto.ts';
import { ERRORS } from './base/error-table.ts';
import { GatewayError, ProtocolError } from './base/errors.ts';
import { isObject, present, toInvalid } from './message.ts';
import type { JsonObject } from './message.ts';
import { CALL_TOOL, methodsWhere } from './methods.ts';

export const FLOW_VERSION = '0.1.0';

const MAX_RECEIPT_NAME = 200;

/** In `_meta` of `interaction.start` and of a call, added by a gateway: the languages of its client, like Accept-Language. */
export const LANGUAGES = 'mcp-parley/languages';

/** In `_meta` of `interaction.start` and of a call: an id chosen by the client, so that a repeated start yields the same session. */
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

/** Whether a server said that it does not play this tool, or no tool at all. Only for code that hands a request to a server. */
export function isNotInteractive(thrown: unknown): boolean {
  if (thrown instanceof GatewayError) return thrown.code === 'FLOW_NOT_INTERACTIVE';
  return thrown instanceof ProtocolError && thrown.code === ERRORS.FLOW_NOT_INTERACTIVE.code;
}

/** The timeout that `interaction.start` asks for. */
export function readTimeout({ timeout }: JsonObject): number | undefined {
  if (timeout === undefined || (typeof timeout === 'number' && timeout > 0)) return timeout;
  throw toInvalid('timeout', 'Must be a number of milliseconds');
}

export function hasStartId({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && typeof meta[START_ID] === 'string';
}

/** For the server behind a gateway: clients that share a connection are one principal to it, so their start ids must not collide. */
export function withOwnStartId(params: JsonObject, principal: string): JsonObject {
  if (!hasStartId(params)) return params;
  const meta = params._meta as JsonObject;
  const own = sha256(`${START_ID}\0${principal}\0${String(meta[START_ID])}`, 'base64url');
  return { ...params, _meta: { ...meta, [START_ID]: own } };
}

/**
 * In `_meta` of `interaction.respond`, added by a gateway: the client neither named the prompt it answers nor
 * acknowledged the last one it was sent, which the gateway named for it.
 */
export const UNACKNOWLEDGED = 'mcp-parley/unacknowledged';

export function isUnacknowledged({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && meta[UNACKNOWLEDGED] === true;
}

/**
 * In `_meta` of a call, added by a gateway: it acknowledges the result once its own client has it. In `_meta` of the result: the session
 * to acknowledge with `interaction.acknowledge`. Until then the server keeps the result for the next call.
 */
export const RECEIPT = 'mcp-parley/receipt';

export interface ReceiptRequest {
  /** Which of the gateway's callers the result is for. */
  caller: string;
  /** The process that holds the result, if no other process can recognize the caller. */
  holder?: string | undefined;
}

/** A malformed one counts as none: the result is then acknowledged when it leaves the server. */
export function readReceiptRequest({ _meta: meta }: JsonObject): ReceiptRequest | undefined {
  const wanted = isObject(meta) ? meta[RECEIPT] : undefined;
  const { caller, holder } = isObject(wanted) ? wanted : {};
  if (!isReceiptName(caller) || (holder !== undefined && !isReceiptName(holder))) return undefined;
  return { caller, holder };
}

export function asksForReceipt({ method, params: { _meta: meta } }: { method: string; params: JsonObject }): boolean {
  return method === CALL_TOOL && isObject(meta) && RECEIPT in meta;
}

function isReceiptName(name: unknown): name is string {
  return typeof name === 'string' && name.length > 0 && name.length <= MAX_RECEIPT_NAME;
}

/** Whether a message is about an interactive session. */
export function isInteraction(method: string): boolean {
  return method.startsWith('interaction.');
}

const FOLLOW_UPS: ReadonlySet<string> = new Set(
  methodsWhere(({ kind, area }) => kind === 'task' || kind === 'meta' || (kind === 'flow' && !area)),
);

/** Belongs to the protocol, or to a call or session that began with another request. */
export function isFollowUp(method: string): boolean {
  return FOLLOW_UPS.has(method);
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
export function takesStartIds(capabilities: ServerCapabilities): boolean {
  return declares(capabilities, 'startIds');
}

/** Whether results of calls are kept until they are acknowledged, if the caller wants that. */
export function givesReceipts(capabilities: ServerCapabilities): boolean {
  return declares(capabilities, 'receipts');
}

export function playsCalls(capabilities: ServerCapabilities): boolean {
  return declares(capabilities, 'calls');
}

function declares({ experimental }: ServerCapabilities, feature: string): boolean {
  const said = (experimental as JsonObject | undefined)?.[CALLS];
  return isObject(said) && said[feature] === true;
}
