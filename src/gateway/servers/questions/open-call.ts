// A request that was sent and that the server has not answered, or a task that has not ended. It stays on the connection until the
// server is done with it, because the handler keeps running when its client leaves. It knows its caller only while that waits, and
// never owns what may be sent again: that is the request (server-request.ts), and each repeat of it has an open call of its own.
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import { fieldOf, isResultObject } from '../../../kernel/raw/raw-object.ts';
import type { RequestTracker, SentRequest, UnattributedChange } from '../../../kernel/server-view.ts';
import { hasEnded } from '../../../kernel/target.ts';
import type { TaskState } from '../../../kernel/target.ts';
import { CALL_TOOL, CANCEL_TASK, GET_TASK, GET_TASK_RESULT } from '../../../kernel/methods.ts';
import { LinkedNode } from '../../../kernel/containers/linked-list.ts';
import type { Ask } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';

export type AskHandler = (ask: Ask, signal?: AbortSignal) => Promise<JsonObject>;

/** The caller that waits for the answer of a request. */
export interface CallOwner {
  readonly client: ClientView;
  readonly ask: AskHandler;
  /** Whether its client can be asked during the call; false for lists, for example. */
  readonly mayAsk: boolean;
  /** Whether its client has given up; the server may not know yet. */
  readonly isGone: boolean;
  tell(said: UnattributedChange): void;
}

/** Where a call is one of those that may have asked. */
interface CallRouting {
  enter(call: OpenCall): void;
  leave(call: OpenCall): void;
  abandon(call: OpenCall, isQuiet: boolean): void;
  endTask(taskId: string): void;
}

export class OpenCall extends LinkedNode<OpenCall> implements RequestTracker {
  /** Undefined for an abandoned call, or one that the gateway makes for itself. */
  caller: CallOwner | undefined;
  readonly client: ClientView | undefined;
  method = '';
  /** The tool, prompt or resource, as in `CallHabits`. */
  subject = '';
  /** Undefined for a server that asks only in its answers. */
  habits: CallHabits | undefined;
  /** The task of the request. */
  taskId: string | undefined;
  /** Whether the answer may be a new task. */
  startsTask = false;
  isTask = false;
  isAbandoned = false;
  readonly mayAsk: boolean;
  readonly #routing: CallRouting;
  #request: SentRequest | undefined;

  constructor(routing: CallRouting, caller: CallOwner | undefined) {
    super();
    this.#routing = routing;
    this.caller = caller;
    this.client = caller?.client;
    this.mayAsk = caller?.mayAsk === true;
  }

  /**
   * The server has asked none of its clients so far. A cancel must not cost those that share its process what it keeps there: if it asks after all, the
   * question is refused, and then the process is replaced. Where the gateway answers for clients, and for stateless ones, which get nothing that might be
   * another call's, it is replaced before.
   */
  get isUnsuspected(): boolean {
    const { client, habits } = this;
    return client?.era.hasSession === true && !client.assisted && habits?.asksUnnamed === false;
  }

  onSent(request?: SentRequest): void {
    this.#request = request;
    this.#routing.enter(this);
  }

  onAnswered(result?: unknown): void {
    const { startsTask, habits, subject } = this;
    const started = startsTask ? taskIn(result) : undefined;
    if (started === undefined) {
      if (!this.isAbandoned) habits?.learnAnswered(subject);
      this.leave();
      if (this.taskId !== undefined && this.#endsTask(result)) this.#routing.endTask(this.taskId);
      return;
    }
    this.taskId = started;
    this.isTask = true;
    this.#request = undefined;
  }

  /** Says nothing about whether it asks. */
  onRefused(): void {
    this.leave();
  }

  onAbandoned(): void {
    const { habits, subject } = this;
    this.isAbandoned = true;
    this.caller = this.#request = undefined; // so that the call does not keep them in memory
    this.#routing.abandon(this, habits?.isQuiet(subject) ?? false);
  }

  /** Called when the server asks without naming a call; `maySuspect`: this call should be alone next time. */
  learnUnnamed(maySuspect: boolean): void {
    const { habits, subject } = this;
    if (!habits) return;
    habits.asksUnnamed = true;
    if (maySuspect) habits.learnAsked(subject);
  }

  /** Stops its timeout until the returned function is called. */
  pauseTimeout(): () => void {
    const request = this.#request;
    request?.pause();
    return () => request?.resume();
  }

  leave(): void {
    this.#request = undefined;
    this.#routing.leave(this);
  }

  #endsTask(result: unknown): boolean {
    const { method } = this;
    if (method === GET_TASK)
      return isResultObject(result) && hasEnded({ status: fieldOf(result, 'status') as TaskState['status'] });
    return method === GET_TASK_RESULT || method === CANCEL_TASK;
  }
}

function taskIn(result: unknown): string | undefined {
  const task = isResultObject(result) ? fieldOf(result, 'task') : undefined;
  return isObject(task) ? String(task.taskId) : undefined;
}

/** Names come from clients, so their number is bounded. */
const MAX_LEARNED = 10_000;

/** Remembers which tools, prompts and resources of a server ask questions, and which have answered without asking. */
export class CallHabits {
  readonly #asking = new Set<string>();
  readonly #answered = new Set<string>();

  /** The server has asked without naming the call, although the transport allows it. */
  asksUnnamed = false;

  /** Whether it has asked, or may have. */
  asks(subject: string): boolean {
    return this.#asking.has(subject);
  }

  /** Whether it has been answered and was never suspected of asking. */
  isQuiet(subject: string): boolean {
    return this.#answered.has(subject) && !this.#asking.has(subject);
  }

  learnAsked(subject: string): void {
    if (this.#asking.size < MAX_LEARNED) this.#asking.add(subject);
  }

  learnAnswered(subject: string): void {
    if (!this.#answered.has(subject) && this.#answered.size < MAX_LEARNED) this.#answered.add(subject);
  }
}

/** The tool, prompt or resource that a call is about. */
export function subjectOf({ method, params }: Pick<Exchange, 'method' | 'params'>): string {
  if (method === CALL_TOOL) return String(params.name);
  const about = params.name ?? params.uri;
  return about === undefined ? `${method} ` : `${method} ${String(about)}`;
}
