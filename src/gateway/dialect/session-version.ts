// The version header in the handshake era: may be missing, must not contradict what was agreed on.
import { GatewayError } from '../../shared/errors.ts';
import type { Conversation } from './conversation.ts';
import type { Front } from './front.ts';
import { isHandshake } from './revisions.ts';

/** Before there is a session, any handshake revision will do. */
export function checkOpeningVersion(header: string | undefined, { revisions }: Front): void {
  if (header === undefined || isHandshake(header)) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: revisions });
}

export function checkSessionVersion(header: string | undefined, { wording, front }: Conversation): void {
  if (header === undefined || !wording || wording.client.dialect === 'draft') return;
  if (header === wording.client.revision) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: front.revisions });
}
