// The version header in the handshake era. It may be missing. One that names another revision of the era than the session's is accepted,
// as official servers accept it: the session's revision stays what was agreed on.
import { GatewayError } from '../../../shared/errors.ts';
import type { Conversation } from './conversation.ts';
import type { ServeContext } from './serve-context.ts';
import { isHandshake } from '../revisions.ts';

/** Before there is a session, any handshake revision will do. */
export function checkOpeningVersion(header: string | undefined, { revisions }: ServeContext): void {
  if (header === undefined || isHandshake(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: revisions });
}

export function checkSessionVersion(header: string | undefined, { dialect, context }: Conversation): void {
  if (header === undefined || !dialect || dialect.client.dialect === 'draft') return;
  if (isHandshake(header) && context.revisions.includes(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: context.revisions });
}
