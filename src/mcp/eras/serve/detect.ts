// Decides which era a message belongs to, and checks the version header of the handshake era. The body decides
// the era, except that a live session or a handshake version header overrides it: some clients negotiate 2025-11-25 and still send the stateless `_meta`
// keys.
import { isObject } from '../../../kernel/message.ts';
import type { Message } from '../../../kernel/message.ts';
import type { ClientOpening } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { readIntroduction } from '../introduction.ts';
import { META } from '../meta.ts';
import { isHandshake } from '../handshake/features.ts';
import { ANYBODY } from '../own-clients.ts';
import { STATELESS_REVISIONS, isStateless, revisionNamed } from '../revisions.ts';
import type { SessionDialect } from './client-dialect.ts';
import type { ServeContext } from './serve-context.ts';

interface Evidence {
  /** The message belongs to an initialized conversation. */
  session: boolean;
  /** `MCP-Protocol-Version`, where the transport has headers. */
  versionHeader?: string | undefined;
}

export function isStatelessMessage(message: Message, evidence: Evidence): boolean {
  const { session, versionHeader } = evidence;
  if (session || !('method' in message)) return false;
  if (versionHeader !== undefined && isHandshake(versionHeader)) return false;
  if (versionHeader !== undefined && isStateless(versionHeader)) return true;
  const claimed = claimedVersion(message.params);
  if (claimed === undefined) return false;
  return message.method === 'initialize' ? isStateless(claimed) : true;
}

/** The version in the envelope, known or not: an unknown one must get the stateless era's error. */
function claimedVersion(params: unknown): string | undefined {
  if (!isObject(params) || !isObject(params._meta)) return undefined;
  const claimed = params._meta[META.protocolVersion];
  return typeof claimed === 'string' ? claimed : undefined;
}

/** What the first message says about the client; undefined if nothing. */
export function openingOf(message: Message): ClientOpening | undefined {
  if (!('method' in message) || !isObject(message.params)) return undefined;
  const { params } = message;
  if (message.method === 'initialize' && typeof params.protocolVersion === 'string') {
    const capabilities = isObject(params.capabilities) ? params.capabilities : {};
    const introduction = isObject(params.clientInfo) ? readIntroduction(params) : undefined;
    return { ...ANYBODY, capabilities, ...introduction };
  }
  const meta = isObject(params._meta) ? params._meta : {};
  const capabilities = meta[META.clientCapabilities];
  const { dialect, era } = revisionNamed(String(meta[META.protocolVersion])) ?? STATELESS_REVISIONS[0]!;
  return isObject(capabilities) ? { dialect, era, capabilities } : undefined;
}

/** Without a session, any handshake revision is accepted. */
export function checkOpeningVersion(header: string | undefined, { revisions }: ServeContext): void {
  if (header === undefined || isHandshake(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: revisions });
}

/**
 * The header may be missing, and it may name another handshake revision than the session's: like official servers, we accept that and keep the
 * negotiated revision.
 */
export function checkSessionVersion(
  header: string | undefined,
  { dialect, context }: { dialect: SessionDialect | undefined; context: ServeContext },
): void {
  if (header === undefined || !dialect?.namesVersions) return;
  if (isHandshake(header) && context.revisions.includes(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: context.revisions });
}
