// A request that the server has not answered, or a task that has not ended. It leaves the connection only when the server is
// done with it: that its client has gone away does not stop a handler.
import type { ClientView } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/message.ts';
import { fieldOf, isResultObject } from '../../../protocol/raw/raw-object.ts';
import type { RequestTracker, SentRequest, UnattributedChange } from '../../../protocol/server-view.ts';
import { LinkedNode } from '../../../shared/containers/linked-list.ts';
import type { AskRouting, AskHandler } from './ask-routing.ts';
import type { CallHabits } from './call-habits.ts';

/** Who made the request, as long as somebody waits for its answer. */
export interface CallOwner {
  readonly client: ClientView;
  readonly put: AskHandler;
  /** Its client can be asked during it: not during a list, for example. */
  readonly mayAsk: boolean;
  /** Its client has given up, which the wire may not know yet. */
  readonly isGone: boolean;
  tell(said: UnattributedChange): void;
}

export interface OpenCallOptions {
  method: string;
  /** What is called: the name by which its habits are known. */
  subject: string;
  habits: CallHabits;
  /** The task that the request is about. */
  taskId?: string | undefined;
  /** The answer may be that a task was started. */
  startsTask?: boolean | undefined;
}

const ENDED = new Set<unknown>(['completed', 'failed', 'cancelled']);

export class OpenCall extends LinkedNode<OpenCall> implements RequestTracker {
  /** Undefined where nobody is to be asked: the call was abandoned, or was made by the gateway for itself. */
  caller: CallOwner | undefined;
  readonly client: ClientView | undefined;
  taskId: string | undefined;
  isTask = false;
  isAbandoned = false;
  readonly mayAsk: boolean;
  readonly #routing: AskRouting;
  readonly #options: OpenCallOptions;
  #request: SentRequest | undefined;

  constructor(routing: AskRouting, caller: CallOwner | undefined, options: OpenCallOptions) {
    super();
    this.#routing = routing;
    this.caller = caller;
    this.client = caller?.client;
    this.mayAsk = caller?.mayAsk === true;
    this.#options = options;
    this.taskId = options.taskId;
  }

  onSent(request?: SentRequest): void {
    this.#request = request;
    this.#routing.enter(this);
  }

  onAnswered(result?: unknown): void {
    const { startsTask, habits, subject } = this.#options;
    const started = startsTask ? taskIn(result) : undefined;
    if (started === undefined) {
      if (!this.isAbandoned) habits.learnAnswered(subject);
      this.leave();
      if (this.taskId !== undefined && this.#endsTask(result)) this.#routing.endTask(this.taskId);
      return;
    }
    this.taskId = started;
    this.isTask = true;
    this.#request = undefined;
  }

  onAbandoned(): void {
    const { habits, subject } = this.#options;
    this.isAbandoned = true;
    this.caller = this.#request = undefined; // what they hold would outlive the call
    this.#routing.abandon(this, habits.isQuiet(subject));
  }

  /** The server asked without naming a call; `maySuspect`: the next time, this one should be alone. */
  learnUnnamed(maySuspect: boolean): void {
    const { habits, subject } = this.#options;
    habits.asksUnnamed = true;
    if (maySuspect) habits.learnAsked(subject);
  }

  /** It does not time out until the returned function is called. */
  hold(): () => void {
    const request = this.#request;
    request?.pause();
    return () => request?.resume();
  }

  leave(): void {
    this.#request = undefined;
    this.#routing.leave(this);
  }

  #endsTask(result: unknown): boolean {
    const { method } = this.#options;
    if (method === 'tasks/get') return isResultObject(result) && ENDED.has(fieldOf(result, 'status'));
    return method === 'tasks/result' || method === 'tasks/cancel';
  }
}

function taskIn(result: unknown): string | undefined {
  const task = isResultObject(result) ? fieldOf(result, 'task') : undefined;
  return isObject(task) ? String(task.taskId) : undefined;
}
