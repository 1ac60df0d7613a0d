// The channels of calls that run as tasks, and of those that may become one.
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import type { ChannelPart } from '../../kernel/derived-exchange.ts';
import type { Ask, Exchange, Progress, LogEntry } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { CAPABILITY_BY_ASK, PING_PEER } from '../../kernel/methods.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { follow } from '../../kernel/base/cancellation.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Task } from './task.ts';
import type { TaskWork } from './task-work.ts';

/**
 * The channel of a call that is a task. Its request is answered already, so logs and notifications are dropped, progress becomes the task's
 * status, and questions wait in the task.
 */
export class TaskChannel implements ChannelPart {
  /** The call, which is a task already. */
  readonly exchange: Exchange;
  readonly #origin: Exchange;
  readonly #task: Task;
  /** The last status made from progress. */
  #said: string | undefined;

  constructor(origin: Exchange, task: Task, said?: string) {
    this.#origin = origin;
    this.exchange = deriveExchange(origin, { channel: this, task: undefined });
    this.#task = task;
    this.#said = said;
  }

  get cancellation(): AbortSignal {
    return this.#task.signal;
  }

  notify(): void {}

  /** A bare number does not replace a status of the handler. */
  progress(progress: Progress): void {
    const { statusMessage } = this.#task.state;
    if (progress.message === undefined && statusMessage !== undefined && statusMessage !== this.#said) return;
    this.#said = toStatusMessage(progress);
    this.#task.say(this.#said);
  }

  log(): void {}

  /** There is no request to keep alive. */
  waits(): void {}

  releaseStream(): void {}

  /** A ping cannot wait in a task. */
  canAsk(ask: Ask): boolean {
    if (ask.method === PING_PEER) return false;
    if (ask.human && this.#origin.client.isUnproven) return this.#origin.canAsk(ask);
    return this.#origin.canAsk(isForPage(ask) ? { ...ask, params: { ...ask.params, mode: 'url' } } : ask);
  }

  /** A question for the page must not wait in the task as a form, because the client would show it. */
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (ask.human && this.#origin.client.isUnproven) return this.#origin.ask(ask, signal);
    const asked = isForPage(ask)
      ? this.#origin.byPage?.(ask, this.exchange, signal)
      : this.canAsk(ask) && this.#task.ask(ask, signal);
    if (asked) return asked;
    const area = CAPABILITY_BY_ASK[ask.method];
    const requiredCapabilities = area === undefined ? {} : { [area]: {} };
    return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method, requiredCapabilities }));
  }
}

function toStatusMessage({ progress, total, message }: Progress): string {
  return message ?? (total === undefined ? String(progress) : `${progress} of ${total}`);
}

/** As a link it can wait in the task. */
function isForPage({ page, params }: Ask): boolean {
  return page === true && params?.mode !== 'url';
}

interface Rules {
  clock: Clock;
  /** How long it may run before it becomes a task; waiting for an answer does not count. */
  graceMs: number;
  /** Whether it answers with a task even if it ends early. */
  isRequired: boolean;
  hasRoom: () => boolean;
  create: (statusMessage?: string) => Task;
}

/**
 * A tool call that may become a task, for a client that allows tasks without requesting one. It starts as an ordinary call and becomes a
 * task when it reports its status or takes long: a quick call stays cheap, and early questions are asked before there is a task. Invariants:
 * 1. It becomes a task at most once, and never while a question is open, because the question uses the request.
 * 2. It never becomes a task once it is cancelled or over.
 * 3. It has one signal throughout, whatever aborts it.
 */
export class MaybeTask implements ChannelPart {
  readonly #origin: Exchange;
  readonly #rules: Rules;
  readonly #controller = new AbortController();
  #answer: (result: JsonObject) => void = () => undefined;
  #task: { own: Task; channel: TaskChannel } | undefined;
  #isUndecided = true;
  #openAsks = 0;
  #statusMessage: string | undefined;
  /** The progress before it became a task. */
  #progress: Progress | undefined;
  #stopTimer: () => void = () => undefined;

  constructor(origin: Exchange, rules: Rules) {
    this.#origin = origin;
    this.#rules = rules;
  }

  /** Runs the work, and answers with its result or with the task that it became. */
  run<T extends ResultObject>(work: TaskWork<T>): Promise<T | JsonObject> {
    const { signal } = this.#origin;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#startTimer();
    const exchange = deriveExchange(this.#origin, { channel: this, task: undefined }); // whether it becomes a task is decided here
    const becoming = new Promise<JsonObject>((resolve) => (this.#answer = resolve));
    return Promise.race([becoming, this.#end(work(exchange, (message) => this.#say(message)))]);
  }

  get cancellation(): AbortSignal {
    return this.#controller.signal;
  }

  /** A task asks its questions itself. */
  get maySuspend(): boolean | undefined {
    return this.#task === undefined && this.#origin.maySuspend;
  }

  notify(method: string, params?: JsonObject): void {
    if (this.#task === undefined) this.#origin.notify(method, params);
  }

  progress(progress: Progress): void {
    if (this.#task !== undefined) return this.#task.channel.progress(progress);
    this.#progress = progress;
    this.#origin.progress(progress);
  }

  log(entry: LogEntry): void {
    if (this.#task === undefined) this.#origin.log(entry);
  }

  waits(words: string, signal: AbortSignal): void {
    if (this.#task === undefined) this.#origin.waits?.(words, signal);
  }

  releaseStream(retryMs: number): void {
    if (this.#task === undefined) this.#origin.releaseStream(retryMs);
  }

  canAsk(ask: Ask): boolean {
    return (this.#task?.channel ?? this.#origin).canAsk(ask);
  }

  async ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#task !== undefined) return this.#task.channel.ask(ask, signal);
    this.#openAsks += 1;
    this.#stopTimer();
    try {
      return await this.#origin.ask(ask, signal);
    } finally {
      this.#openAsks -= 1;
      if (this.#openAsks === 0) this.#goOn();
    }
  }

  #say(message: string): void {
    if (this.#task !== undefined) return this.#task.own.say(message);
    this.#statusMessage = message;
    if (this.#openAsks === 0) this.#become();
  }

  /** A status reported while a question was open takes effect now. */
  #goOn(): void {
    if (this.#statusMessage === undefined) this.#startTimer();
    else this.#become();
  }

  #startTimer(): void {
    const { clock, graceMs } = this.#rules;
    if (this.#isUndecided) this.#stopTimer = clock.after(graceMs, () => this.#become());
  }

  /** The client did not request a task, so without room for one it gets its result directly. */
  #become(): void {
    if (!this.#isUndecided || !this.#rules.hasRoom()) return;
    this.#decide();
    this.#answer({ task: this.#create().state });
  }

  #create(): Task {
    const said = this.#progress && toStatusMessage(this.#progress);
    const own = this.#rules.create(this.#statusMessage ?? said);
    this.#task = { own, channel: new TaskChannel(this.#origin, own, said) };
    follow(this.#controller, own.signal);
    return own;
  }

  #onAbort = (): void => {
    this.#decide();
    this.#controller.abort(this.#origin.signal.reason);
  };

  #decide(): void {
    this.#isUndecided = false;
    this.#stopTimer();
    this.#origin.signal.removeEventListener('abort', this.#onAbort);
  }

  /** Once the call has become a task, its result is not used. */
  async #end<T extends ResultObject>(running: Promise<T>): Promise<T | JsonObject> {
    await Promise.allSettled([running]);
    this.#decide();
    // A client that has left could not learn the id of a new task.
    const mustBeTask = this.#rules.isRequired && !this.cancellation.aborted;
    const task = this.#task?.own ?? (mustBeTask ? this.#create() : undefined);
    if (task === undefined) return running;
    await task.settle(running);
    return { task: task.state };
  }
}
