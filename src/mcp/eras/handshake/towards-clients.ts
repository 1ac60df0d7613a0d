// How a client opens a connection of the handshake era: a string `protocolVersion` is the revision that it offers.
import { readOptionalObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { checkIntroductionSize, readIntroduction } from '../introduction.ts';
import { revisionNamed } from '../revisions.ts';
import type { ClientSession, EraTowardsClients } from '../serve/client-dialect.ts';
import { negotiateRevision } from './features.ts';
import { HandshakeClientDialect } from './handshake-client-dialect.ts';

export const HANDSHAKE_TOWARDS_CLIENTS: EraTowardsClients = {
  isOpening: ({ protocolVersion }) => typeof protocolVersion === 'string',

  /** Tolerates missing `capabilities` and `clientInfo`. */
  toDialect(params: JsonObject, session: ClientSession): HandshakeClientDialect {
    const requested = params.protocolVersion as string;
    const { revisions } = session.context;
    const revision = negotiateRevision(requested, revisions);
    if (revision === undefined) throw new GatewayError('UNSUPPORTED_VERSION', { supported: revisions, requested });
    const capabilities = readOptionalObject(params, 'capabilities') ?? {};
    checkIntroductionSize(capabilities, 'capabilities');
    return new HandshakeClientDialect(session, {
      dialect: 'handshake',
      era: revisionNamed(revision)!.era,
      revision,
      ...readIntroduction(params),
      capabilities,
      principal: session.principal,
      connection: session.from,
    });
  },
};
