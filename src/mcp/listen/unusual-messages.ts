// What is done with messages that are not one ordinary message: a batch is taken apart, other input is refused, and an answer that JSON cannot
// express is replaced.
import { toErrorMessage } from '../../kernel/message.ts';
import type { Message } from '../../kernel/message.ts';
import { INITIALIZE } from '../../kernel/methods.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import { writeMessage } from '../wire/json-rpc.ts';
import type { ParsedInput, RefusedInput } from '../wire/json-rpc.ts';
import type { Conversation } from '../eras/serve/conversation.ts';
import { isStatelessMessage } from '../eras/serve/detect.ts';
import type { Outlet } from '../eras/serve/served-exchange.ts';
import { plainError } from '../eras/plain-error.ts';

type UnusualInput = Exclude<ParsedInput, { kind: 'message' }>;

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

/** Answers input that is not a message, so that its sender learns of the mistake. A bad notification gets no answer. */
export function answerRefusal({ id, error }: RefusedInput, outlet: Outlet): void {
  if (error.code === 'INVALID_PARAMS' && id === null) return outlet.end();
  outlet.end(toErrorMessage(id, plainError(error)), error.row.status);
}

function batchRefusal(conversation: Conversation, items: ParsedInput[]): string | undefined {
  if (!conversation.dialect?.batches) return 'Batches are not part of the negotiated revision';
  const messages = items.flatMap((item) => (item.kind === 'message' ? [item.message] : []));
  if (messages.some((message) => 'method' in message && message.method === INITIALIZE))
    return 'initialize must not be part of a batch';
  if (messages.some((message) => isStatelessMessage(message, { session: false })))
    return 'Batches are not part of the claimed revision';
  return undefined;
}

/** One outlet per item of the batch, in order. The answers are sent as one array; a batch of notifications has none. */
export function splitOutlet(outlet: Outlet, count: number): Outlet[] {
  const answers: Message[] = [];
  let open = count;
  const end = (answer?: Message | Message[]): void => {
    if (answer !== undefined) answers.push(...(Array.isArray(answer) ? answer : [answer]));
    if (--open === 0) outlet.end(answers.length > 0 ? answers : undefined);
  };
  const { arrival } = outlet;
  const item: Outlet = { send: (message) => outlet.send(message), end, release: () => {}, arrival };
  return Array.from({ length: count }, () => item);
}

/**
 * What is sent in place of an answer that JSON cannot express (a BigInt, a cycle, half a gigabyte of text). It is a defect of the target: its
 * client gets an error, and other requests are not affected. `cause` is why the answer could not be written.
 */
export function replaceUnwritable(answer: Message | Message[], cause: unknown, log: Log): Message | Message[] {
  log.error({ cause }, 'answer.unwritable');
  return Array.isArray(answer) ? answer.map(toWritable) : toFailure(answer);
}

/** The answer, or an error in its place, so that one bad answer does not affect the rest of its batch. */
export function toWritable(answer: Message): Message {
  try {
    writeMessage(answer);
    return answer;
  } catch {
    return toFailure(answer);
  }
}

function toFailure(answer: Message): Message {
  const id = 'id' in answer ? answer.id : null;
  return toErrorMessage(id, plainError(new GatewayError('INTERNAL')));
}
