// Takes one incoming text apart and hands each message to the conversation: the part that all handshake transports share.
import type { Message } from '../../protocol/message.ts';
import { toErrorMessage } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Incoming, Refused } from '../codec/json-rpc.ts';
import type { Conversation } from '../dialect/serve/conversation.ts';
import { isStatelessMessage } from '../dialect/serve/detect.ts';
import type { Outlet } from '../dialect/serve/outlet.ts';
import { plainError } from '../dialect/plain-error.ts';
import { splitOutlet } from './batch-outlet.ts';

export function receiveIn(conversation: Conversation, incoming: Incoming, outlet: Outlet): void {
  if (incoming.kind === 'message') return conversation.receive(incoming.message, outlet);
  if (incoming.kind === 'refused') return refuse(incoming, outlet);
  const reason = batchRefusal(conversation, incoming.items);
  if (reason !== undefined) {
    const error = new GatewayError('INVALID_REQUEST', { data: reason });
    return refuse({ kind: 'refused', id: null, error }, outlet);
  }
  const outlets = splitOutlet(outlet, incoming.items.length);
  incoming.items.forEach((item, index) => receiveIn(conversation, item, outlets[index]!));
}

/** What is no message is answered all the same, so that its sender learns of it; only a bad notification has no answer. */
export function refuse({ id, error }: Refused, outlet: Outlet): void {
  if (error.code === 'INVALID_PARAMS' && id === null) return outlet.end();
  outlet.end(toErrorMessage(id, plainError(error)), error.row.status);
}

function batchRefusal(conversation: Conversation, items: Incoming[]): string | undefined {
  if (!conversation.wording?.batches) return 'Batches are not part of the negotiated revision';
  const messages = items.flatMap((item) => (item.kind === 'message' ? [item.message] : []));
  if (messages.some(isInitialize)) return 'initialize must not be part of a batch';
  if (messages.some((message) => isStatelessMessage(message, { session: false })))
    return 'Batches are not part of the claimed revision';
  return undefined;
}

function isInitialize(message: Message): boolean {
  return 'method' in message && message.method === 'initialize';
}
