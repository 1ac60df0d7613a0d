// Answers `initialize`: the client's own words decide the dialect, once. A string `protocolVersion` means MCP at that
// revision, else a string `mcpVersion` means draft; the two shapes share no required key, so nothing is guessed.
import type { JsonObject, RequestMessage } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { Conversation } from './conversation.ts';
import { DraftWording } from '../draft/draft-wording.ts';
import { HandshakeWording } from '../handshake/handshake-wording.ts';
import { introductionOf, optionalObject, toInfo } from '../speak/introduction.ts';
import { DRAFT, DRAFT_VERSION, negotiate } from '../revisions.ts';
import type { Wording } from './wording.ts';

/** Served before the handshake: health check and the Flow declaration. */
export const OPEN_METHODS: ReadonlySet<string> = new Set(['ping', 'capabilities', 'initialize']);
/** From here on the client may be asked. */
export const INITIALIZED: ReadonlySet<string> = new Set(['notifications/initialized', 'initialized']);

export function greet(request: RequestMessage, conversation: Conversation): { wording: Wording; result: JsonObject } {
  const wording = chooseWording(request.params ?? {}, conversation);
  return { wording, result: wording.welcome() };
}

/** How to speak with a client that opens, or once opened, with these parameters. */
export function chooseWording(params: JsonObject, conversation: Conversation): HandshakeWording | DraftWording {
  const { protocolVersion, mcpVersion } = params;
  if (typeof protocolVersion === 'string') return handshakeWording(params, conversation);
  if (typeof mcpVersion === 'string') return draftWording(params, conversation);
  const error = protocolVersion === undefined ? 'Required parameter missing' : 'Must be a string';
  throw new GatewayError('INVALID_PARAMS', { parameter: 'protocolVersion', error });
}

/** `capabilities` and `clientInfo` may be missing: take liberally. */
function handshakeWording(params: JsonObject, conversation: Conversation): HandshakeWording {
  const requested = params.protocolVersion as string;
  const { revisions } = conversation.front;
  const revision = negotiate(requested, revisions);
  if (revision === undefined) throw new GatewayError('UNSUPPORTED_VERSION', { supported: revisions, requested });
  return new HandshakeWording(conversation, {
    dialect: 'handshake',
    revision,
    ...introductionOf(params),
    capabilities: optionalObject(params.capabilities, 'capabilities'),
    principal: conversation.principal,
    connection: conversation.from,
  });
}

function draftWording(params: JsonObject, conversation: Conversation): DraftWording {
  const requested = params.mcpVersion as string;
  if (requested !== DRAFT_VERSION || !conversation.front.revisions.includes(DRAFT)) {
    const supported = conversation.front.revisions.includes(DRAFT) ? [DRAFT_VERSION] : [];
    throw new GatewayError('UNSUPPORTED_VERSION', { supported, requested });
  }
  const declared = optionalObject(params.clientCapabilities, 'clientCapabilities');
  return new DraftWording(conversation, {
    supportsProgress: declared.supportsProgress === true,
    supportsCancellation: declared.supportsCancellation === true,
    info: toInfo(params.clientInfo),
  });
}
