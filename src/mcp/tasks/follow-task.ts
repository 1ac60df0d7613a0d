// Follows a task to its end: polls at the server's pace, answers the task's questions, and returns the result that the call would
// have had. If the caller gives up, the time is over or an answer is refused, it cancels the task.
import { setTimeout as sleep } from 'node:timers/promises';
import { isMarkedHuman } from '../../kernel/form/human-marks.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import type { CallOptions, OutgoingCall, ServerView } from '../../kernel/server-view.ts';
import type { TaskState } from '../../kernel/target.ts';
import type { Ask } from '../../kernel/exchange.ts';
import { CALL_TOOL, CANCEL_TASK, GET_TASK, GET_TASK_RESULT, UPDATE_TASK } from '../../kernel/methods.ts';
import { dictionary } from '../../kernel/containers/dictionary.ts';
import { cancelledBy, cancelledError } from '../../kernel/base/cancelled-error.ts';
import { rejectOnAbort } from '../../kernel/base/timing.ts';
import { GatewayError, toServerError } from '../../kernel/base/errors.ts';

const DEFAULT_POLL_MS = 1000;
/** Bounds the pace that a server may request. */
const [MIN_POLL_MS, MAX_POLL_MS] = [20, 60_000];
/** Failed polls in a row before the task is given up. */
const MAX_FAILURES = 5;
const PASSING = ['UPSTREAM_UNREACHABLE', 'UPSTREAM_FAILED', 'UPSTREAM_TIMEOUT', 'UPSTREAM_BUSY'];
const ENDED = ['completed', 'failed', 'cancelled'];
const STATUSES = ['working', 'input_required', ...ENDED];
const CANCEL_MS = 5000;
const MAX_TIMER_MS = 2 ** 31 - 1;

interface TaskHost {
  readonly server: ServerView;
  call(call: OutgoingCall): Promise<JsonObject>;
}

interface TaskAnswerer {
  answer(ask: Ask, signal: AbortSignal): Promise<JsonObject>;
}

export interface FollowTaskOptions extends Pick<CallOptions, 'signal' | 'timeoutMs' | 'maxTimeoutMs' | 'trace'> {
  /** Called with each state of the task. */
  onTask?: ((task: TaskState) => void) | undefined;
}

interface FollowedTask {
  host: TaskHost;
  answers: TaskAnswerer;
  /** Aborted with the reason when the task is given up. */
  signal: AbortSignal;
  call: Pick<OutgoingCall, 'timeoutMs' | 'trace'>;
  onTask: FollowTaskOptions['onTask'];
  /** Questions that were answered; the server may still list them for a while. */
  answered: Set<string>;
}

export async function followTask(
  host: TaskHost,
  answers: TaskAnswerer,
  created: TaskState,
  options: FollowTaskOptions,
): Promise<JsonObject> {
  const { timeoutMs, trace, onTask } = options;
  const patience = limitedBy(options, host.server.info.name);
  const { signal } = patience;
  const following = { host, answers, signal, call: { timeoutMs, trace }, onTask, answered: new Set<string>() };
  let ended: TaskState;
  try {
    ended = await toEnd(created, following);
  } catch (thrown) {
    const { taskId } = created;
    // Its result is no longer wanted. If it has just ended or cannot be reached, cancelling it fails harmlessly.
    await host.call({ method: CANCEL_TASK, params: { taskId }, timeoutMs: CANCEL_MS }).catch(() => {});
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    patience.end();
  }
  return outcome(host, ended, { timeoutMs, trace, signal: options.signal });
}

/** Combines the caller's signal and time limit into one signal. */
function limitedBy({ signal, maxTimeoutMs: ms }: FollowTaskOptions, server: string) {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(cancelledBy(signal));
  const late = (): void =>
    controller.abort(new GatewayError('UPSTREAM_TIMEOUT', { server, method: CALL_TOOL, ms, why: ', as a task' }));
  const timer = ms === undefined || ms > MAX_TIMER_MS ? undefined : setTimeout(late, ms);
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  return { signal: controller.signal, end };
}

async function toEnd(created: TaskState, following: FollowedTask): Promise<TaskState> {
  const { signal, onTask } = following;
  let task = created;
  for (;;) {
    signal.throwIfAborted();
    if (!STATUSES.includes(task.status)) throw invalid(following.host, `a task with the status ${task.status}`);
    onTask?.(task);
    if (ENDED.includes(task.status)) return tellsState(task, created, following) ? poll(task, following) : task;
    const busy = task.status === 'input_required' && (await answerTask(task, following));
    if (!busy) await sleep(pace(task), undefined, { signal });
    task = await poll(task, following);
  }
}

/** The response that creates a task has no room for its result, so a task that ended at once must still be polled. */
function tellsState(task: TaskState, created: TaskState, { host }: FollowedTask): boolean {
  return task === created && host.server.era.tasksByExtension && !isObject(task.result) && !task.error;
}

/** A task may run for hours, so a short outage of its server must not lose it. */
async function poll(task: TaskState, { host, call, signal }: FollowedTask): Promise<TaskState> {
  const { taskId } = task;
  for (let failures = 1; ; failures++) {
    try {
      const state = await host.call({ ...call, signal, method: GET_TASK, params: { taskId } });
      return { ...(state as unknown as TaskState), taskId };
    } catch (thrown) {
      const passing = thrown instanceof GatewayError && PASSING.includes(thrown.code);
      if (!passing || failures === MAX_FAILURES) throw thrown;
      await sleep(Math.max(pace(task) * failures, thrown.retryAfterMs ?? 0), undefined, { signal });
    }
  }
}

/**
 * Returns true if questions were answered, so that polling at once is worthwhile. Handshake servers deliver questions, like the
 * result, on `tasks/result`; others list them in the task.
 */
async function answerTask(task: TaskState, following: FollowedTask): Promise<boolean> {
  const { host, answers, signal, call, answered } = following;
  const { taskId } = task;
  if (host.server.era.tasksByCapability) {
    const asked = host.call({ ...call, signal, method: GET_TASK_RESULT, params: { taskId } });
    return asked.then(
      () => true,
      () => false, // the task has its outcome
    );
  }
  const open = Object.entries(task.inputRequests ?? {}).filter(([key]) => !answered.has(key));
  if (open.length === 0) return false;
  const inputResponses: JsonObject = dictionary();
  const ask = async ([key, question]: (typeof open)[number]): Promise<void> => {
    const answer = answers.answer({ ...question, key, ...(isMarkedHuman(question.params) && { human: true }) }, signal);
    inputResponses[key] = await rejectOnAbort(answer, signal, () => signal.reason as Error);
    answered.add(key);
  };
  await Promise.all(open.map(ask));
  await host.call({ ...call, signal, method: UPDATE_TASK, params: { taskId, inputResponses } });
  return true;
}

async function outcome(host: TaskHost, task: TaskState, call: Partial<OutgoingCall>): Promise<JsonObject> {
  const { taskId, status, result, error, statusMessage } = task;
  if (isObject(result)) return result;
  if (error) throw toServerError(error);
  if (status === 'cancelled') throw cancelledError('cancelled');
  if (host.server.era.tasksByCapability) return host.call({ ...call, method: GET_TASK_RESULT, params: { taskId } });
  throw status === 'failed'
    ? toServerError({ code: -32603, message: statusMessage ?? 'The task failed' })
    : invalid(host, 'a completed task without a result');
}

function invalid({ server }: TaskHost, reason: string): GatewayError {
  return new GatewayError('UPSTREAM_INVALID', { server: server.info.name, reason });
}

function pace({ pollIntervalMs }: TaskState): number {
  const ms = typeof pollIntervalMs === 'number' ? pollIntervalMs : DEFAULT_POLL_MS;
  return Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS);
}
