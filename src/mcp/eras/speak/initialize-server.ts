// Initializes a server of the handshake era or the draft dialect.
import type { ClientCapabilities, Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import { isObject, toNotification } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { ServerEvents } from '../../../kernel/server-view.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { isLoop } from '../../../kernel/base/via.ts';
import { DraftServerDialect } from '../draft/draft-server-dialect.ts';
import { HandshakeServerDialect } from '../handshake/handshake-server-dialect.ts';
import { META } from '../meta.ts';
import { DRAFT, DRAFT_VERSION } from '../draft/revisions.ts';
import { NEWEST_HANDSHAKE, featuresOf, isHandshake } from '../handshake/features.ts';
import { revisionNamed, toOnlyRevision } from '../revisions.ts';
import type { OnlyRevision } from '../revisions.ts';
import { toClientCapabilities } from './client-capabilities.ts';
import type { ServerDialect, Wire } from './server-dialect.ts';

/** Without a revision, offers the newest and accepts any of the era. */
export interface ServerIntroduction extends OnlyRevision {
  info: Implementation;
  capabilities: ClientCapabilities;
  /** Further fields of the client's opening that the server gets, `_meta` among them. */
  greeting?: JsonObject | undefined;
  timeoutMs?: number | undefined;
  /** The gateways that the request has passed, this one last. */
  via?: readonly string[] | undefined;
}

/** `headers` belong on every later request. */
interface InitializedServer {
  dialect: ServerDialect;
  headers: Record<string, string>;
  ready: NotificationMessage;
}

/** `adopt` gets the dialect before the server gets `initialized`, because its first question may follow at once. */
export async function initializeServer(
  wire: Wire,
  intro: ServerIntroduction,
  events: ServerEvents,
  adopt: (dialect: ServerDialect) => void,
): Promise<InitializedServer> {
  const opened = await agree(wire, intro, events);
  adopt(opened.dialect);
  await wire.notify(opened.ready, opened.headers);
  return opened;
}

async function agree(wire: Wire, intro: ServerIntroduction, events: ServerEvents): Promise<InitializedServer> {
  const { era } = toOnlyRevision(intro);
  if (era === 'draft') return openDraft(wire, await initializeDraft(wire, intro), events);
  let result;
  try {
    result = await initialize(wire, intro);
  } catch (thrown) {
    // A draft server answers the official opening with an error; rethrow anything else.
    if (!(thrown instanceof ProtocolError) || isLoop(thrown) || era !== undefined || isOfStateless(thrown))
      throw thrown;
    const draft = await initializeDraft(wire, intro).catch(() => undefined);
    if (!isDraftResult(draft)) throw thrown;
    return openDraft(wire, draft, events);
  }
  if (isDraftResult(result) && era === undefined) return openDraft(wire, result, events);
  return openHandshake(wire, result, intro, events);
}

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

function initializeDraft(wire: Wire, { timeoutMs, via }: ServerIntroduction): Promise<unknown> {
  const clientCapabilities = { supportsProgress: true, supportsCancellation: true };
  const params = { mcpVersion: DRAFT_VERSION, clientCapabilities, ...(via && { _meta: { [META.via]: via } }) };
  return wire.call({ method: 'initialize', params, timeoutMs });
}

function isDraftResult(result: unknown): result is JsonObject {
  return isObject(result) && isObject(result.server) && isObject(result.serverCapabilities);
}

function openDraft(wire: Wire, result: unknown, events: ServerEvents): InitializedServer {
  if (!isDraftResult(result))
    throw new GatewayError('NO_COMMON_VERSION', { server: wire.name, offered: 'another dialect' });
  const declared = result.serverCapabilities as JsonObject;
  const dialect = new DraftServerDialect(
    wire,
    {
      dialect: DRAFT.dialect,
      era: DRAFT.era,
      revision: DRAFT_VERSION,
      info: result.server as Implementation,
      capabilities: {
        ...(declared.supportsToolDiscovery === true && { tools: { listChanged: true } }),
        ...(declared.supportsResourceDiscovery === true && {
          // It tells every client of every update.
          resources: { listChanged: true, ...(declared.supportsNotifications === true && { subscribe: true }) },
        }),
      },
    },
    events,
  );
  return { dialect, headers: {}, ready: toNotification('initialized', {}) };
}

/** Only servers of the newer era have these errors: a header mismatch (-32020), and a list of supported revisions (-32022). */
function isOfStateless({ code }: ProtocolError): boolean {
  return code === -32020 || code === -32022;
}
