// Runs a call as a task of a handshake server and waits for its end. The task's questions arrive on the request that waits for
// its result, and go to the client of the call.
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { fieldOf, toPlainObject } from '../../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../../protocol/raw/raw-object.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { META } from '../../dialect/meta.ts';
import { delayAbort } from './delayed-abort.ts';
import type { ServerCall } from '../server-call.ts';

type Send = ServerCall['request'];

export type StatusListener = (statusMessage: string) => void;

interface AwaitedTaskOptions {
  say: StatusListener;
  clock: Clock;
}

export class AwaitedTask {
  readonly #exchange: Exchange;
  readonly #say: StatusListener;
  readonly #clock: Clock;
  #taskId: string | undefined;
  #send: Send | undefined;

  constructor(exchange: Exchange, { say, clock }: AwaitedTaskOptions) {
    this.#exchange = exchange;
    this.#say = say;
    this.#clock = clock;
  }

  /** `followed` maps task ids to the listeners for status notifications. */
  async run(send: Send, followed: Map<string, StatusListener>): Promise<ResultObject> {
    this.#send = send;
    const created = await this.#create(send);
    const task = fieldOf(created, 'task');
    if (!isObject(task)) return created;
    const { signal } = this.#exchange; // the signal of the task that the call may have become, not of the original request
    const taskId = (this.#taskId = String(task.taskId));
    followed.set(taskId, this.#say);
    try {
      if (signal.aborted) throw new GatewayError('CANCELLED');
      return withoutRelated(toPlainObject(await send({ method: 'tasks/result', params: { taskId }, signal })));
    } catch (thrown) {
      // A task that has just ended cannot be cancelled.
      if (signal.aborted) {
        await send({ method: 'tasks/cancel', params: { taskId }, signal: undefined }).catch(() => {});
      }
      throw thrown;
    } finally {
      followed.delete(taskId);
    }
  }

  async #create(send: Send): Promise<ResultObject> {
    const { signal, end } = delayAbort(this.#exchange.signal, this.#clock);
    try {
      return await send({ task: { ttl: this.#exchange.task?.ttl }, signal });
    } finally {
      end();
    }
  }

  /** Reads the task's status first: if it has a message, the call becomes a task, and its questions belong to that task. */
  async ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const params = { taskId: this.#taskId };
    const state = this.#taskId && (await this.#send?.({ method: 'tasks/get', params }).catch(() => undefined));
    const message = state ? fieldOf(state, 'statusMessage') : undefined;
    if (typeof message === 'string') this.#say(message);
    return this.#exchange.ask(withoutTask(ask), signal);
  }
}

function withoutTask(ask: Ask): Ask {
  if (!ask.params) return ask;
  const { _meta, task, ...params } = ask.params;
  return { ...ask, params };
}

function withoutRelated(result: JsonObject): JsonObject {
  if (!isObject(result._meta) || !(META.relatedTask in result._meta)) return result;
  const { [META.relatedTask]: _task, ...meta } = result._meta;
  const { _meta, ...rest } = result;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}
