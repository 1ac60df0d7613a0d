// Receives a notification from a stateless client. The protocol defines only the cancellation; any other goes to the
// servers.
import type { NotificationMessage } from '../../../protocol/message.ts';
import { WIRE_NOTIFICATIONS } from '../../../protocol/methods.ts';
import type { ServeContext } from '../serve/serve-context.ts';
import { splitMeta } from '../meta.ts';
import { readEnvelope, toClient } from './envelope.ts';

/** Drops a notification without an envelope, because its client is unknown. */
export function receiveStatelessNotification(
  context: ServeContext,
  notification: NotificationMessage,
  principal: string,
): void {
  const { method, params } = notification;
  if (WIRE_NOTIFICATIONS.has(method) || !context.target.notify) return;
  try {
    const client = toClient(readEnvelope(notification, context.revisions), principal);
    const { params: own } = splitMeta(params);
    context.target.notify({ jsonrpc: '2.0', method, params: own }, client);
  } catch (error) {
    context.log.warn({ method, error }, 'notification.dropped');
  }
}
