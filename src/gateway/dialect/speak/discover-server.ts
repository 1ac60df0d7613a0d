// Asks a server whether it is of the stateless era, and judges the answer. What is no evidence must not be taken for any: an
// outage or a refused login says nothing about eras, and a success that names no common version is no success (matrix §2.14).
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import { flowOf } from '../../../protocol/interaction.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import type { ServerEvents, ServerView } from '../../../protocol/server-view.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { isLoop } from '../../../shared/via.ts';
import { META, withoutEnvelope } from '../meta.ts';
import { FLOW_EXTENSION } from '../stateless/flow-extension.ts';
import { STATELESS, isHandshake } from '../revisions.ts';
import type { ServerDialect, Wire } from './server-dialect.ts';
import { toHeaders } from '../stateless/speak/outgoing-headers.ts';
import { toEnvelope } from '../stateless/speak/outgoing-envelope.ts';
import type { StatelessIdentity } from '../stateless/speak/outgoing-envelope.ts';
import { StatelessServerDialect } from '../stateless/speak/stateless-server-dialect.ts';

const UNSUPPORTED_VERSION = -32022;
/** Statuses that are about who asks, how often, or when, and not about what was asked. */
const NO_EVIDENCE = new Set([401, 403, 407, 408, 421, 423, 425, 429]);

export interface DiscoverOptions {
  timeoutMs?: number | undefined;
  /** The gateways on the way to the server. */
  via?: readonly string[] | undefined;
}

/** A dialect, or undefined when the server is of another era. Throws for what is no evidence. */
export async function discoverServer(
  wire: Wire,
  identity: StatelessIdentity,
  events: ServerEvents,
  question: DiscoverOptions = {},
): Promise<ServerDialect | undefined> {
  const result = await probe(wire, identity, question);
  if (!isObject(result)) return undefined;
  const { supportedVersions } = result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(STATELESS)) return undefined;
  return new StatelessServerDialect(wire, toView(result), identity, events);
}

async function probe(wire: Wire, identity: StatelessIdentity, question: DiscoverOptions): Promise<unknown> {
  try {
    return await discover(wire, identity, question);
  } catch (thrown) {
    if (!saysSupported(thrown, wire)) return judge(thrown);
  }
  // It speaks the era and named our version as supported after all: ask once more, never `initialize`.
  return discover(wire, identity, question);
}

function discover(wire: Wire, identity: StatelessIdentity, { via, timeoutMs }: DiscoverOptions): Promise<unknown> {
  const method = 'server/discover';
  const params = { _meta: { ...toEnvelope(STATELESS, identity), ...(via && { [META.via]: via }) } };
  const headers = wire.http ? toHeaders(method, params, STATELESS) : undefined;
  // No word of calling it off: to a server that waits for `initialize`, it would be one more message that it may die of.
  return wire.call({ method, params, headers, timeoutMs, cancelByStream: true, cancelNotice: () => undefined });
}

/** Conclusive is the code of this era, with the list that goes with it; the list may name older revisions only. */
function saysSupported(thrown: unknown, wire: Wire): boolean {
  if (!(thrown instanceof ProtocolError) || thrown.code !== UNSUPPORTED_VERSION || !isObject(thrown.data)) return false;
  const { supported } = thrown.data;
  if (!Array.isArray(supported)) return false;
  if (supported.includes(STATELESS)) return true;
  if (supported.length === 0 || supported.some((revision) => isHandshake(String(revision)))) return false;
  throw new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: supported.join(', ') });
}

/** What is no evidence goes up. */
function judge(thrown: unknown): undefined {
  if (!isOtherEra(thrown)) throw thrown;
}

/** An error of the server to an opening means that it may have another era, and so does what is no answer at all. */
export function isOtherEra(thrown: unknown): boolean {
  if (isLoop(thrown)) return false;
  if (thrown instanceof ProtocolError) return true;
  if (!(thrown instanceof GatewayError)) return false;
  const { status } = thrown.details;
  if (typeof status === 'number' && status >= 400 && status < 500 && !NO_EVIDENCE.has(status)) return true;
  return thrown.code === 'UPSTREAM_INVALID' || thrown.code === 'NO_COMMON_VERSION';
}

function toView(result: JsonObject): ServerView {
  const meta = isObject(result._meta) ? result._meta : {};
  const { supportedVersions: _versions, capabilities: _can, instructions: _says, serverInfo: _who, ...rest } = result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...greeting } = withoutEnvelope(withoutVia(rest));
  const info = meta[META.serverInfo] ?? result.serverInfo;
  return {
    dialect: 'stateless',
    revision: STATELESS,
    info: (isObject(info) ? info : { name: 'unknown', version: '0' }) as Implementation,
    capabilities: toNeutral(isObject(result.capabilities) ? result.capabilities : {}),
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
    greeting,
    ...(meta[META.via] === true && { isGateway: true }),
  };
}

function withoutVia(result: JsonObject): JsonObject {
  if (!isObject(result._meta) || !(META.via in result._meta)) return result;
  const { [META.via]: _via, ...meta } = result._meta;
  return { ...result, _meta: meta };
}

/** A server may declare MCP Flow as an extension alone. */
function toNeutral(capabilities: ServerCapabilities): ServerCapabilities {
  const flow = capabilities.extensions?.[FLOW_EXTENSION];
  if (!isObject(flow) || flowOf(capabilities)) return capabilities;
  return { ...capabilities, experimental: { ...capabilities.experimental, mcpFlow: flow } };
}
