// What is sent in place of an answer that JSON cannot express (a BigInt, a cycle, half a gigabyte of text). It is a defect
// of the target: its client gets an error, and other requests are not affected.
import type { Message } from '../../protocol/message.ts';
import { toErrorMessage } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { writeMessage } from '../codec/json-rpc.ts';
import { plainError } from '../dialect/plain-error.ts';

/** Gives what can be written instead. `cause` is why the answer could not be written. */
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
