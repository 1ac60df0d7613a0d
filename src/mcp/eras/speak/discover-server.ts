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
import type { Revision } from '../era.ts';
import { STATELESS_REVISIONS, hasSessions } from '../revisions.ts';
import { toHeaders } from '../stateless/headers.ts';
import { toEnvelope } from '../stateless/envelope.ts';
import type { StatelessIdentity } from '../stateless/envelope.ts';
import { StatelessServerDialect } from '../stateless/stateless-server-dialect.ts';
import type { ServerDialect, Wire } from './server-dialect.ts';

const UNSUPPORTED_VERSION = -32022;
/** Statuses about who asks, how often or when; they say nothing about the era. */
const NO_EVIDENCE = new Set([401, 403, 407, 408, 421, 423, 425, 429]);

interface DiscoverOptions {
  /** The only revision to speak; default: all without sessions. */
  revision?: string | undefined;
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
  const spoken = STATELESS_REVISIONS.filter(({ name }) => (question.revision ?? name) === name);
  const result = await probe({ wire, identity, spoken }, question);
  if (!isObject(result)) return undefined;
  const agreed = newestOf(spoken, result.supportedVersions);
  return agreed && new StatelessServerDialect(wire, toView(result, agreed), identity, events);
}

/** Who asks, and what it speaks, newest first. */
interface Asker {
  wire: Wire;
  identity: StatelessIdentity;
  spoken: readonly Revision[];
}

function newestOf(spoken: readonly Revision[], offered: unknown): Revision | undefined {
  return Array.isArray(offered) ? spoken.find(({ name }) => offered.includes(name)) : undefined;
}

async function probe(asker: Asker, question: DiscoverOptions): Promise<unknown> {
  const [newest] = asker.spoken;
  if (!newest) return undefined;
  try {
    return await discover(asker, newest, question);
  } catch (thrown) {
    const common = commonRevision(thrown, asker);
    // It speaks the era and lists a revision of ours: ask again, never `initialize`.
    if (common) return discover(asker, common, question);
    if (isOtherEra(thrown)) return undefined;
    throw thrown;
  }
}

function discover(
  { wire, identity }: Asker,
  { name }: Revision,
  { via, timeoutMs }: DiscoverOptions,
): Promise<unknown> {
  const method = 'server/discover';
  const params = { _meta: { ...toEnvelope(name, identity), ...(via && { [META.via]: via }) } };
  const headers = wire.http ? toHeaders(method, params, name) : undefined;
  // Without a cancellation notice: a server that waits for `initialize` might crash on another message.
  return wire.call({ method, params, timeoutMs }, { headers, cancelByStream: true, cancelNotice: () => undefined });
}

/** Only this era's error code with its version list is conclusive; the list may name older revisions only. */
function commonRevision(thrown: unknown, { wire, spoken }: Asker): Revision | undefined {
  if (!(thrown instanceof ProtocolError) || thrown.code !== UNSUPPORTED_VERSION || !isObject(thrown.data))
    return undefined;
  const { supported } = thrown.data;
  if (!Array.isArray(supported)) return undefined;
  const common = newestOf(spoken, supported);
  if (common || supported.length === 0 || supported.some((revision) => hasSessions(String(revision)))) return common;
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

function toView(result: JsonObject, { name, dialect, era }: Revision): ServerView {
  const meta = isObject(result._meta) ? result._meta : {};
  const { supportedVersions: _versions, capabilities: _can, instructions: _says, serverInfo: _who, ...rest } = result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...greeting } = withoutEnvelope(withoutVia(rest));
  const info = meta[META.serverInfo] ?? result.serverInfo;
  return {
    dialect,
    era,
    revision: name,
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
