// Translates tasks between a client and a server of different eras. The client's task is kept here and follows the server's call,
// which may be a task of the server's own kind or an ordinary call. If both sides know the same kind, tasks pass unchanged.
import type { ClientView, Exchange, Ask } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { fieldOf, toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { OutgoingCall, ServerView } from '../../../kernel/server-view.ts';
import type { Change, TaskState } from '../../../kernel/target.ts';
import { pages } from '../../../kernel/pages.ts';
import type { ToolFacts } from '../../../kernel/tool-facts.ts';
import {
  CANCEL_TASK,
  GET_TASK,
  GET_TASK_RESULT,
  LIST_TASKS,
  LIST_TOOLS,
  UPDATE_TASK,
} from '../../../kernel/methods.ts';
import { cancelledBy } from '../../../kernel/base/cancelled-error.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { Cancellation } from '../../../kernel/base/cancellation.ts';
import type { Abortable } from '../../../kernel/base/cancellation.ts';
import { onAbort } from '../../../kernel/base/timing.ts';
import { followTask } from '../../../mcp/tasks/follow-task.ts';
import { Tasks } from '../../../mcp/tasks/tasks.ts';
import { META } from '../../../mcp/eras/meta.ts';
import type { AskHandler } from '../questions/open-call.ts';
import type { UpstreamConnection } from '../connections/upstream-connection.ts';
import { ServerCall } from '../server-call.ts';
import type { CallContext } from '../call-context.ts';
import { isCrossing, runsTasks } from './task-support.ts';

interface TaskBridgeOptions {
  /** The tools as this client sees them. */
  tools: (client: ClientView) => ToolFacts;
  limits: Limits;
  tell: (change: Change) => void;
  calls: CallContext;
}

/** How long a call stays an ordinary one; most questions and status messages come long before. */
const GRACE_MS = 1000;

type Send = ServerCall['request'];
type StatusListener = (statusMessage: string) => void;

export class TaskBridge {
  readonly #options: TaskBridgeOptions;
  readonly #tasks: Tasks;
  /** Listeners for the status of the server's tasks, by connection and task id. */
  readonly #followed = new WeakMap<UpstreamConnection, Map<string, StatusListener>>();

  constructor(options: TaskBridgeOptions) {
    const { calls, limits, tell } = options;
    this.#options = options;
    this.#tasks = new Tasks({ clock: calls.clock, limits, tell, taskGraceMs: GRACE_MS });
  }

  /** Runs a call as a task of a server that runs tasks, if the client or the tool wants that; undefined for an ordinary call. */
  callTool(exchange: Exchange, server: ServerView): Promise<ResultObject> | undefined {
    const { client } = exchange;
    if (exchange.awaitsTask) return this.#toEnd(exchange, server);
    if (server.era.tasksByExtension) {
      return !client.era.tasksByExtension && exchange.task?.requested ? this.#start(exchange, server) : undefined;
    }
    return client.era.tasksByExtension ? this.#fromStateless(exchange) : this.#toHandshake(exchange);
  }

  #fromStateless(exchange: Exchange): Promise<ResultObject> | undefined {
    const tools = this.#options.tools(exchange.client);
    const name = String(exchange.params.name);
    return tools.misses(name) || tools.get(name)?.taskSupport ? this.#asSupported(exchange) : undefined;
  }

  async #asSupported(exchange: Exchange): Promise<ResultObject> {
    const support = await this.#supportOf(exchange);
    if (support && exchange.task) return this.#maybeStart(exchange, support === 'required');
    if (support === 'required') throw new GatewayError('TASK_REQUIRED', { tool: exchange.params.name });
    return this.#send(exchange);
  }

  /** Handles the `tasks/…` methods. */
  async handle(exchange: Exchange, server: ServerView): Promise<ResultObject> {
    if (!isCrossing(exchange.client, server)) return this.#send(exchange);
    switch (exchange.method) {
      case GET_TASK:
        return this.#tasks.get(exchange);
      case LIST_TASKS:
        return this.#tasks.list(exchange);
      case UPDATE_TASK:
        return this.#tasks.update(exchange);
      case CANCEL_TASK:
        return this.#tasks.cancel(exchange);
      case GET_TASK_RESULT:
        return this.#tasks.result(exchange);
      default:
        throw new GatewayError('METHOD_NOT_FOUND', { method: exchange.method });
    }
  }

  /** Marks tools as able to run as tasks for handshake clients: with a stateless server, all of them may. */
  toList(result: JsonObject, { client }: Exchange, server: ServerView): JsonObject {
    if (!client.era.tasksByCapability || !server.era.tasksByExtension || !runsTasks(server)) return result;
    if (!Array.isArray(result.tools)) return result;
    const tools = (result.tools as JsonObject[]).map((tool) => ({ execution: { taskSupport: 'optional' }, ...tool }));
    return { ...result, tools };
  }

  /** Handles a task notification; returns true if the task is followed here. */
  onTask({ taskId, statusMessage }: TaskState, connection: UpstreamConnection): boolean {
    const say = this.#followed.get(connection)?.get(taskId);
    if (say && statusMessage !== undefined) say(statusMessage);
    return say !== undefined;
  }

  close(): void {
    this.#tasks.clear();
  }

  #send(exchange: Exchange): Promise<ResultObject> {
    return new ServerCall(exchange, this.#options.calls).send();
  }

  /** Leases one connection for several requests; `ask` answers questions that arrive on it. */
  async #with<T>(exchange: Exchange, work: (call: ServerCall) => Promise<T>, ask?: AskHandler): Promise<T> {
    const call = new ServerCall(exchange, this.#options.calls, { ask });
    await call.lease();
    try {
      return await work(call);
    } finally {
      call.release();
    }
  }

  /** Leases the connection first, so that only the time of the call itself counts. */
  async #maybeStart(exchange: Exchange, isRequired: boolean): Promise<ResultObject> {
    let handler: AskHandler = (ask, signal) => exchange.ask(ask, signal);
    const call = new ServerCall(exchange, this.#options.calls, { ask: (ask, signal) => handler(ask, signal) });
    await call.lease();
    return this.#tasks.maybeStart(exchange, { isRequired }, async (own, say) => {
      const waiting = this.#awaited(own, say);
      handler = (ask, signal) => waiting.ask(ask, signal);
      try {
        return await waiting.run((wanted) => call.request(wanted), this.#followedOn(call));
      } finally {
        call.release();
      }
    });
  }

  async #start(exchange: Exchange, server: ServerView): Promise<ResultObject> {
    return this.#tasks.start(exchange, (own, say) => this.follow(own, server, say));
  }

  /** Clients whose revision has no tasks wait for the end of the task. */
  #toHandshake(exchange: Exchange): Promise<ResultObject> | undefined {
    const isRequired =
      this.#options.tools(exchange.client).get(String(exchange.params.name))?.taskSupport === 'required';
    return !isRequired || exchange.client.era.requestsTasks ? undefined : this.#await(exchange);
  }

  async #toEnd(exchange: Exchange, server: ServerView): Promise<ResultObject> {
    if (server.era.tasksByExtension) return this.follow(exchange, server);
    return (await this.#supportOf(exchange)) === 'required' ? this.#await(exchange) : this.#send(exchange);
  }

  #await(exchange: Exchange): Promise<ResultObject> {
    const waiting = this.#awaited(exchange, () => {});
    return this.#with(
      exchange,
      (call) => waiting.run((wanted) => call.request(wanted), this.#followedOn(call)),
      (ask, signal) => waiting.ask(ask, signal),
    );
  }

  /**
   * Calls a stateless server, and follows the task that the call may become. Without the tasks extension the server answers directly, with
   * progress; if it refuses that, it has not started yet.
   */
  follow(exchange: Exchange, server: ServerView, say: StatusListener = () => {}): Promise<ResultObject> {
    const { signal, trace } = exchange;
    return this.#with(exchange, async (sent) => {
      const { signal: late, end } = delayAbort(signal, this.#options.calls.clock);
      const result = await sent.request({ mayBecomeTask: true, signal: late }).finally(end);
      const task = fieldOf(result, 'task');
      if (!isObject(task)) return result;
      const host = {
        server,
        call: async ({ method, params = {}, signal }: OutgoingCall) =>
          toPlainObject(await sent.request({ method, params, signal, mayBecomeTask: true })),
      };
      const onTask = ({ statusMessage }: TaskState): void => void (statusMessage !== undefined && say(statusMessage));
      const answers = { answer: (ask: Parameters<AskHandler>[0], lost: AbortSignal) => exchange.ask(ask, lost) };
      return followTask(host, answers, task as unknown as TaskState, { signal, trace, onTask });
    });
  }

  #awaited(exchange: Exchange, say: StatusListener): AwaitedTask {
    return new AwaitedTask(exchange, { say, clock: this.#options.calls.clock });
  }

  /** Two processes may use the same task ids. */
  #followedOn({ connection }: ServerCall): Map<string, StatusListener> {
    let followed = this.#followed.get(connection!);
    if (!followed) this.#followed.set(connection!, (followed = new Map()));
    return followed;
  }

  async #supportOf(exchange: Exchange): Promise<'required' | 'optional' | undefined> {
    const tools = this.#options.tools(exchange.client);
    const name = String(exchange.params.name);
    const fetch = async (params: JsonObject) => {
      const list = new InternalExchange(LIST_TOOLS, params, exchange.client, exchange.signal);
      const page = toPlainObject(await this.#send(list));
      tools.learn(page, params.cursor === undefined);
      return page;
    };
    if (tools.misses(name)) for await (const _ of pages({ key: 'tools', fetch })) if (!tools.misses(name)) break;
    return tools.get(name)?.taskSupport;
  }
}

/** A call that runs as a task of a handshake server. The task's questions arrive on the request that waits for its result, and go to the client of the call. */
class AwaitedTask {
  readonly #exchange: Exchange;
  readonly #say: StatusListener;
  readonly #clock: Clock;
  #taskId: string | undefined;
  #send: Send | undefined;

  constructor(exchange: Exchange, { say, clock }: { say: StatusListener; clock: Clock }) {
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
      if (signal.aborted) throw cancelledBy(signal);
      return withoutRelated(toPlainObject(await send({ method: GET_TASK_RESULT, params: { taskId }, signal })));
    } catch (thrown) {
      // A task that has just ended cannot be cancelled.
      if (signal.aborted) {
        await send({ method: CANCEL_TASK, params: { taskId }, signal: undefined }).catch(() => {});
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
    const state = this.#taskId && (await this.#send?.({ method: GET_TASK, params }).catch(() => undefined));
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

const A_WHILE_MS = 1000;

/**
 * Delays the cancellation of a call that may create a task: the server might create one whose id is never learned, so that it could not be cancelled. Call
 * `end` when the call is over.
 */
export function delayAbort(signal: Abortable, clock: Clock): { signal: Abortable; end: () => void } {
  const late = new Cancellation();
  let stop = (): void => {};
  const stopListening = onAbort(signal, () => {
    stop = clock.after(A_WHILE_MS, () => late.abort(signal.reason));
  });
  const end = (): void => {
    stop();
    stopListening();
  };
  return { signal: late, end };
}
