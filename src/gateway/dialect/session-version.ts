// The version header of a handshake session: may be missing, must not contradict what was agreed on.
import { GatewayError } from '../../shared/errors.ts';
import type { Conversation } from './conversation.ts';

export function checkSessionVersion(header: string | undefined, { wording, front }: Conversation): void {
  if (header === undefined || !wording || wording.client.dialect === 'draft') return;
  if (header === wording.client.revision) return;
  throw new GatewayError('UNSUPPORTED_VERSION', { requested: header, supported: front.revisions });
}
