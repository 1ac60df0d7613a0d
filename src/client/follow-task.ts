// Follows a call that became a task to its end: polls as the server asks, answers what the task asks, and gives back what
// the call would have. A caller that gives up calls the task off.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import type { TaskState } from '../protocol/target.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import type { Upstream } from '../gateway/upstream/upstream.ts';
import type { Answers } from './answers.ts';
import type { CallToolOptions } from './types.ts';

const DEFAULT_POLL_MS = 1000;
/** A server may ask for any pace; neither a flood nor a freeze. */
const [MIN_POLL_MS, MAX_POLL_MS] = [20, 60_000];

export async function followTask(
  upstream: Upstream,
  answers: Answers,
  created: TaskState,
  options: CallToolOptions,
): Promise<JsonObject> {
  const { signal, onTask, task: requested, ...call } = options;
  const { taskId } = created;
  const answered = new Set<string>();
  let task = created;
  try {
    for (;;) {
      onTask?.(task);
      if (task.status === 'completed' || task.status === 'failed' || task.status === 'cancelled') break;
      if (task.status === 'input_required') await answerTask(upstream, answers, task, answered);
      else await sleep(pace(task), undefined, { signal });
      signal?.throwIfAborted();
      task = (await upstream.call({ ...call, method: 'tasks/get', params: { taskId } })) as unknown as TaskState;
    }
  } catch (thrown) {
    if (!signal?.aborted) throw thrown;
    await upstream.call({ method: 'tasks/cancel', params: { taskId } }).catch(() => {}); // it may just have ended
    throw new GatewayError('CANCELLED');
  }
  return outcome(upstream, task);
}

/** Handshake servers deliver questions, as they deliver the result, on `tasks/result`; others list them in the task. */
async function answerTask(upstream: Upstream, answers: Answers, task: TaskState, answered: Set<string>): Promise<void> {
  const { taskId } = task;
  if (upstream.server.dialect === 'handshake') {
    await upstream.call({ method: 'tasks/result', params: { taskId } }).catch(() => {}); // its outcome is read from the task
    return;
  }
  const open = Object.entries(task.inputRequests ?? {}).filter(([key]) => !answered.has(key));
  if (open.length === 0) return  (await sleep(pace(task)));
  const inputResponses: JsonObject = {};
  for (const [key, question] of open) {
    inputResponses[key] = await answers.answer({ ...question, key }, new AbortController().signal);
    answered.add(key);
  }
  await upstream.call({ method: 'tasks/update', params: { taskId, inputResponses } });
}

async function outcome(
  upstream: Upstream,
  { taskId, status, result, error, statusMessage }: TaskState,
): Promise<JsonObject> {
  if (isObject(result)) return result;
  if (error) throw new ProtocolError(error.code, error.message, error.data);
  if (status === 'cancelled') throw new GatewayError('CANCELLED');
  if (upstream.server.dialect === 'handshake') return upstream.call({ method: 'tasks/result', params: { taskId } });
  throw new ProtocolError(-32603, statusMessage ?? `Task ${status}`);
}

function pace({ pollIntervalMs = DEFAULT_POLL_MS }: TaskState): number {
  return Math.min(Math.max(pollIntervalMs, MIN_POLL_MS), MAX_POLL_MS);
}
