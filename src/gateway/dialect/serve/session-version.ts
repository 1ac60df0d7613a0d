// Checks the version header in the handshake era. It may be missing, and it may name another handshake revision than
// the session's: like official servers, we accept that and keep the negotiated revision.
import { GatewayError } from '../../../shared/errors.ts';
import type { Conversation } from './conversation.ts';
import type { ServeContext } from './serve-context.ts';
import { isHandshake } from '../revisions.ts';

/** Without a session, any handshake revision is accepted. */
export function checkOpeningVersion(header: string | undefined, { revisions }: ServeContext): void {
  if (header === undefined || isHandshake(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: revisions });
}

export function checkSessionVersion(header: string | undefined, { dialect, context }: Conversation): void {
  if (header === undefined || !dialect || dialect.client.dialect === 'draft') return;
  if (isHandshake(header) && context.revisions.includes(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: context.revisions });
}
