// How a client opens a connection of the draft dialect: a string `mcpVersion`, and no `protocolVersion`.
import { readOptionalObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { readClientInfo } from '../introduction.ts';
import type { ClientSession, EraTowardsClients } from '../serve/client-dialect.ts';
import { DraftClientDialect } from './draft-client-dialect.ts';
import { DRAFT, DRAFT_VERSION } from './revisions.ts';

export const DRAFT_TOWARDS_CLIENTS: EraTowardsClients = {
  isOpening: ({ protocolVersion, mcpVersion }) => typeof protocolVersion !== 'string' && typeof mcpVersion === 'string',

  toDialect(params: JsonObject, session: ClientSession): DraftClientDialect {
    const requested = params.mcpVersion;
    const isSpoken = session.context.revisions.includes(DRAFT.name);
    if (requested !== DRAFT_VERSION || !isSpoken) {
      throw new GatewayError('UNSUPPORTED_VERSION', { supported: isSpoken ? [DRAFT_VERSION] : [], requested });
    }
    const declared = readOptionalObject(params, 'clientCapabilities') ?? {};
    return new DraftClientDialect(session, {
      supportsProgress: declared.supportsProgress === true,
      supportsCancellation: declared.supportsCancellation === true,
      info: readClientInfo(params),
    });
  },
};
