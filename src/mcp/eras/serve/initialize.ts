// Chooses the dialect of a connection by its `initialize`. A string `protocolVersion` means MCP at that
// revision, else a string `mcpVersion` means draft; the two forms share no required key, so the choice is certain.
import { MISSING, readOptionalObject, toInvalid } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { DraftClientDialect } from '../draft/draft-client-dialect.ts';
import { HandshakeClientDialect } from '../handshake/handshake-client-dialect.ts';
import { negotiateRevision } from '../handshake/features.ts';
import { DRAFT, DRAFT_VERSION } from '../draft/revisions.ts';
import { revisionNamed } from '../revisions.ts';
import type { Conversation } from './conversation.ts';
import { checkIntroductionSize, readClientInfo, readIntroduction } from './detect.ts';

/** Served before the handshake: health check and the Flow declaration. */
export const OPEN_METHODS: ReadonlySet<string> = new Set(['ping', 'capabilities', 'initialize']);
/** After these, the client may be asked questions. */
export const INITIALIZED: ReadonlySet<string> = new Set(['notifications/initialized', 'initialized']);

/** The dialect for a client that opened with these parameters. */
export function chooseClientDialect(
  params: JsonObject,
  conversation: Conversation,
): HandshakeClientDialect | DraftClientDialect {
  const { protocolVersion, mcpVersion } = params;
  if (typeof protocolVersion === 'string') return toHandshakeDialect(params, conversation);
  if (typeof mcpVersion === 'string') return toDraftDialect(params, conversation);
  throw toInvalid('protocolVersion', protocolVersion === undefined ? MISSING : 'Must be a string');
}

/** Tolerates missing `capabilities` and `clientInfo`. */
function toHandshakeDialect(params: JsonObject, conversation: Conversation): HandshakeClientDialect {
  const requested = params.protocolVersion as string;
  const { revisions } = conversation.context;
  const revision = negotiateRevision(requested, revisions);
  if (revision === undefined) throw new GatewayError('UNSUPPORTED_VERSION', { supported: revisions, requested });
  const capabilities = readOptionalObject(params, 'capabilities') ?? {};
  checkIntroductionSize(capabilities, 'capabilities');
  return new HandshakeClientDialect(conversation, {
    dialect: 'handshake',
    era: revisionNamed(revision)!.era,
    revision,
    ...readIntroduction(params),
    capabilities,
    principal: conversation.principal,
    connection: conversation.from,
  });
}

function toDraftDialect(params: JsonObject, conversation: Conversation): DraftClientDialect {
  const requested = params.mcpVersion as string;
  if (requested !== DRAFT_VERSION || !conversation.context.revisions.includes(DRAFT.name)) {
    const supported = conversation.context.revisions.includes(DRAFT.name) ? [DRAFT_VERSION] : [];
    throw new GatewayError('UNSUPPORTED_VERSION', { supported, requested });
  }
  const declared = readOptionalObject(params, 'clientCapabilities') ?? {};
  return new DraftClientDialect(conversation, {
    supportsProgress: declared.supportsProgress === true,
    supportsCancellation: declared.supportsCancellation === true,
    info: readClientInfo(params),
  });
}
