// Encodes an answer safely. A result that JSON cannot express (a BigInt, a cycle, half a gigabyte of text) is a defect
// of the target: its client gets an error, and other requests are not affected.
import type { Message } from '../../protocol/message.ts';
import { toErrorMessage } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { writeMessage, encode } from '../codec/json-rpc.ts';
import type { EncodedMessage } from '../codec/json-rpc.ts';
import { plainError } from '../dialect/plain-error.ts';

/** `by` must throw before it has written anything. */
export function writeAnswer<T>(answer: Message | Message[], log: Log, by: (answer: Message | Message[]) => T): T {
  try {
    return by(answer);
  } catch (cause) {
    log.error({ cause }, 'answer.unwritable');
    return by(Array.isArray(answer) ? answer.map(toWritable) : toFailure(answer));
  }
}

export function encodeAnswer(answer: Message | Message[], log: Log): EncodedMessage {
  return writeAnswer(answer, log, encode);
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
