// Opens a connection to a server of the draft dialect.
import type { Implementation } from '@modelcontextprotocol/client';
import { isObject, toNotification } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ServerEvents } from '../../../kernel/server-view.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { META } from '../meta.ts';
import type { Wire } from '../speak/server-dialect.ts';
import type { EraTowardsServers, InitializedServer, ServerIntroduction } from '../speak/server-opening.ts';
import { DraftServerDialect } from './draft-server-dialect.ts';
import { DRAFT, DRAFT_VERSION } from './revisions.ts';

export const DRAFT_TOWARDS_SERVERS: EraTowardsServers = {
  dialect: DRAFT.dialect,
  initialize: initializeDraft,
  isItsAnswer: isDraftResult,
  open: openDraft,
};

function initializeDraft(wire: Wire, { timeoutMs, via }: ServerIntroduction): Promise<unknown> {
  const clientCapabilities = { supportsProgress: true, supportsCancellation: true };
  const params = { mcpVersion: DRAFT_VERSION, clientCapabilities, ...(via && { _meta: { [META.via]: via } }) };
  return wire.call({ method: 'initialize', params, timeoutMs });
}

function isDraftResult(result: unknown): result is JsonObject {
  return isObject(result) && isObject(result.server) && isObject(result.serverCapabilities);
}

function openDraft(wire: Wire, result: unknown, _intro: ServerIntroduction, events: ServerEvents): InitializedServer {
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
