// Asks a server whether it speaks the stateless era. Only clear evidence counts: an outage or a refused login says
// nothing about eras, and a result without a common version is not a success.
import { FLOW_EXTENSION } from '../../../kernel/extensions.ts';
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import { flowOf } from '../../../kernel/interaction.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ServerEvents, ServerView } from '../../../kernel/server-view.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { isLoop } from '../../../kernel/base/via.ts';
import { META, withoutEnvelope } from '../meta.ts';
import { isHandshake } from '../handshake/features.ts';
import { JULY_2026, STATELESS } from '../stateless/revisions.ts';
import { toHeaders } from '../stateless/headers.ts';
import { toEnvelope } from '../stateless/envelope.ts';
import type { StatelessIdentity } from '../stateless/envelope.ts';
import { StatelessServerDialect } from '../stateless/stateless-server-dialect.ts';
import type { ServerDialect, Wire } from './server-dialect.ts';

const UNSUPPORTED_VERSION = -32022;
/** Statuses about who asks, how often or when; they say nothing about the era. */
const NO_EVIDENCE = new Set([401, 403, 407, 408, 421, 423, 425, 429]);

interface DiscoverOptions {
  timeoutMs?: number | undefined;
  /** The gateways that the request has passed. */
  via?: readonly string[] | undefined;
}

/** The dialect; undefined if the server speaks another era. Throws if the answer is not evidence. */
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
    if (!saysSupported(thrown, wire)) {
      if (isOtherEra(thrown)) return undefined;
      throw thrown;
    }
  }
  // It speaks the era and lists our version: ask again, never `initialize`.
  return discover(wire, identity, question);
}

function discover(wire: Wire, identity: StatelessIdentity, { via, timeoutMs }: DiscoverOptions): Promise<unknown> {
  const method = 'server/discover';
  const params = { _meta: { ...toEnvelope(STATELESS, identity), ...(via && { [META.via]: via }) } };
  const headers = wire.http ? toHeaders(method, params, STATELESS) : undefined;
  // Without a cancellation notice: a server that waits for `initialize` might crash on another message.
  return wire.call({ method, params, timeoutMs }, { headers, cancelByStream: true, cancelNotice: () => undefined });
}

/** Only this era's error code with its version list is conclusive; the list may name older revisions only. */
function saysSupported(thrown: unknown, wire: Wire): boolean {
  if (!(thrown instanceof ProtocolError) || thrown.code !== UNSUPPORTED_VERSION || !isObject(thrown.data)) return false;
  const { supported } = thrown.data;
  if (!Array.isArray(supported)) return false;
  if (supported.includes(STATELESS)) return true;
  if (supported.length === 0 || supported.some((revision) => isHandshake(String(revision)))) return false;
  throw new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: supported.join(', ') });
}

/** A server error, or an invalid answer, to an opening suggests another era. */
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
    dialect: JULY_2026.dialect,
    era: JULY_2026.era,
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

/** A server may declare MCP Flow only as an extension. */
function toNeutral(capabilities: ServerCapabilities): ServerCapabilities {
  const flow = capabilities.extensions?.[FLOW_EXTENSION];
  if (!isObject(flow) || flowOf(capabilities)) return capabilities;
  return { ...capabilities, experimental: { ...capabilities.experimental, mcpFlow: flow } };
}
