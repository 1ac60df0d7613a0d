// A notification of a client of the stateless era. The protocol itself names none but the one that cancels a request; what it does
// not name is for the servers.
import type { NotificationMessage } from '../../../protocol/message.ts';
import { WIRE_NOTIFICATIONS } from '../../../protocol/wire-notifications.ts';
import type { Front } from '../serve/front.ts';
import { splitMeta } from '../meta.ts';
import { readEnvelope, toClient } from './envelope.ts';

/** One without an envelope says nothing of its client, and is dropped. */
export function hearStateless(front: Front, notification: NotificationMessage, principal: string): void {
  const { method, params } = notification;
  if (WIRE_NOTIFICATIONS.has(method) || !front.target.notify) return;
  try {
    const client = toClient(readEnvelope(notification, front.revisions), principal);
    const { params: own } = splitMeta(params);
    front.target.notify({ jsonrpc: '2.0', method, params: own }, client);
  } catch (error) {
    front.log.warn({ method, error }, 'notification.dropped');
  }
}
