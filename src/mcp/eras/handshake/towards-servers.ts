// Opens a connection to a server of the handshake era.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import { isObject, toNotification } from '../../../kernel/message.ts';
import type { ServerEvents } from '../../../kernel/server-view.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { META } from '../meta.ts';
import { revisionNamed } from '../revisions.ts';
import { toClientCapabilities } from '../speak/client-capabilities.ts';
import type { Wire } from '../speak/server-dialect.ts';
import type { EraTowardsServers, InitializedServer, ServerIntroduction } from '../speak/server-opening.ts';
import { NEWEST_HANDSHAKE, featuresOf, isHandshake } from './features.ts';
import { HandshakeServerDialect } from './handshake-server-dialect.ts';

export const HANDSHAKE_TOWARDS_SERVERS: EraTowardsServers = {
  dialect: 'handshake',
  initialize,
  isItsAnswer: (result) => isObject(result) && typeof result.protocolVersion === 'string',
  open: openHandshake,
};

function initialize(wire: Wire, intro: ServerIntroduction): Promise<unknown> {
  const { info, greeting, timeoutMs, via, revision: protocolVersion = NEWEST_HANDSHAKE } = intro;
  const capabilities = toClientCapabilities(intro.capabilities, protocolVersion);
  const own = isObject(greeting?._meta) ? greeting._meta : undefined;
  const meta = via ? { _meta: { ...own, [META.via]: via } } : undefined;
  const params = { ...greeting, protocolVersion, capabilities, clientInfo: info, ...meta };
  return wire.call({ method: 'initialize', params, timeoutMs });
}

function openHandshake(
  wire: Wire,
  result: unknown,
  intro: ServerIntroduction,
  events: ServerEvents,
): InitializedServer {
  const { protocolVersion, capabilities, serverInfo, instructions, ...greeting } = isObject(result) ? result : {};
  const agreed = typeof protocolVersion === 'string' && isHandshake(protocolVersion);
  if (!agreed || (intro.revision !== undefined && intro.revision !== protocolVersion)) {
    throw new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: String(protocolVersion) });
  }
  // Servers know this header from 2025-06-18 on.
  const headers = featuresOf(protocolVersion).structured ? { 'mcp-protocol-version': protocolVersion } : {};
  const dialect = new HandshakeServerDialect(
    wire,
    {
      dialect: 'handshake',
      era: revisionNamed(protocolVersion)!.era,
      revision: protocolVersion,
      info: (isObject(serverInfo) ? serverInfo : { name: 'unknown', version: '0' }) as Implementation,
      capabilities: toServerCapabilities(isObject(capabilities) ? capabilities : {}, protocolVersion),
      instructions: typeof instructions === 'string' ? instructions : undefined,
      greeting,
    },
    events,
  );
  return { dialect, headers, ready: toNotification('notifications/initialized') };
}

/** The oldest revision has no flag for completion: a server with prompts or resource templates may have it. */
function toServerCapabilities(capabilities: ServerCapabilities, revision: string): ServerCapabilities {
  const { prompts, resources, completions } = capabilities;
  if (featuresOf(revision).completionsFlag || completions || !(prompts ?? resources)) return capabilities;
  return { ...capabilities, completions: {} };
}
