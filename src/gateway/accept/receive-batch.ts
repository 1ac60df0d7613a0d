// What a handshake transport does with input that is not one message: a batch is taken apart, and the rest is refused.
import type { Message } from '../../protocol/message.ts';
import { toErrorMessage } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { ParsedInput, RefusedInput } from '../codec/json-rpc.ts';
import type { Conversation } from '../dialect/serve/conversation.ts';
import { isStatelessMessage } from '../dialect/serve/detect.ts';
import type { Outlet } from '../dialect/serve/served-exchange.ts';
import { plainError } from '../dialect/plain-error.ts';

export function receiveBatchOrRefuse(conversation: Conversation, incoming: UnusualInput, outlet: Outlet): void {
  if (incoming.kind === 'refused') return answerRefusal(incoming, outlet);
  const reason = batchRefusal(conversation, incoming.items);
  if (reason !== undefined) {
    const error = new GatewayError('INVALID_REQUEST', { data: reason });
    return answerRefusal({ kind: 'refused', id: null, error }, outlet);
  }
  const outlets = splitOutlet(outlet, incoming.items.length);
  incoming.items.forEach((item, index) => {
    if (item.kind === 'message') conversation.receive(item.message, outlets[index]!);
    else receiveBatchOrRefuse(conversation, item, outlets[index]!);
  });
}

type UnusualInput = Exclude<ParsedInput, { kind: 'message' }>;

/** Answers input that is not a message, so that its sender learns of the mistake. A bad notification gets no answer. */
export function answerRefusal({ id, error }: RefusedInput, outlet: Outlet): void {
  if (error.code === 'INVALID_PARAMS' && id === null) return outlet.end();
  outlet.end(toErrorMessage(id, plainError(error)), error.row.status);
}

function batchRefusal(conversation: Conversation, items: ParsedInput[]): string | undefined {
  if (!conversation.dialect?.batches) return 'Batches are not part of the negotiated revision';
  const messages = items.flatMap((item) => (item.kind === 'message' ? [item.message] : []));
  if (messages.some(isInitialize)) return 'initialize must not be part of a batch';
  if (messages.some((message) => isStatelessMessage(message, { session: false })))
    return 'Batches are not part of the claimed revision';
  return undefined;
}

function isInitialize(message: Message): boolean {
  return 'method' in message && message.method === 'initialize';
}

/** One outlet per item of the batch, in order. The answers are sent as one array; a batch of notifications has none. */
export function splitOutlet(outlet: Outlet, count: number): Outlet[] {
  const answers: Message[] = [];
  let open = count;
  const end = (answer?: Message | Message[]): void => {
    if (answer !== undefined) answers.push(...(Array.isArray(answer) ? answer : [answer]));
    if (--open === 0) outlet.end(answers.length > 0 ? answers : undefined);
  };
  const item: Outlet = { send: (message) => outlet.send(message), end, release: () => {} };
  return Array.from({ length: count }, () => item);
}
