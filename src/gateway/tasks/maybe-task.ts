// A call of a tool that may run as a task, for a client that merely allows it. It starts as a plain call and becomes a
// task when it says something of its state or takes long; so what is quick stays cheap, and what has to be asked first is
// asked before there is a task. Invariants:
// 1. it becomes a task once at most, and never while a question is open: the request at hand is the question's then;
// 2. once it is cancelled or over it becomes none;
// 3. its signal is one and the same all along, whatever aborts it.
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Ask, Exchange, LogEntry, Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { Clock } from '../../shared/clock.ts';
import { settleTask } from './settle-task.ts';
import { TaskExchange, toStatusMessage } from './task-exchange.ts';
import type { Task } from './task.ts';
import type { TaskWork } from './tasks.ts';

interface Rules {
  clock: Clock;
  /** How long it may run before it becomes a task. Waiting for an answer is not running. */
  graceMs: number;
  /** It answers with a task even if it ends before it became one. */
  isRequired: boolean;
  hasRoom: () => boolean;
  create: (statusMessage?: string) => Task;
}

export class MaybeTask extends DelegatedExchange {
  readonly #rules: Rules;
  readonly #controller = new AbortController();
  #answer: (result: JsonObject) => void = () => undefined;
  #task: { own: Task; exchange: TaskExchange } | undefined;
  #isUndecided = true;
  #openAsks = 0;
  #statusMessage: string | undefined;
  /** How far it was before it became a task. */
  #progress: Progress | undefined;
  #stopTimer: () => void = () => undefined;

  constructor(origin: Exchange, rules: Rules) {
    super(origin);
    this.#rules = rules;
  }

  /** Does the work, and answers the request with its result or with the task that it became. */
  run<T extends ResultObject>(work: TaskWork<T>): Promise<T | JsonObject> {
    const { signal } = this.inner;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#startTimer();
    const becoming = new Promise<JsonObject>((resolve) => (this.#answer = resolve));
    return Promise.race([becoming, this.#end(work(this, (message) => this.#say(message)))]);
  }

  override get signal(): AbortSignal {
    return this.#controller.signal;
  }

  override get cancellation(): undefined {
    return undefined;
  }

  /** Whether it becomes one is decided here. */
  override get task(): undefined {
    return undefined;
  }

  /** A task asks by itself. */
  override get maySuspend(): boolean | undefined {
    return this.#task === undefined && this.inner.maySuspend;
  }

  override notify(method: string, params?: JsonObject): void {
    if (this.#task === undefined) this.inner.notify(method, params);
  }

  override progress(progress: Progress): void {
    if (this.#task !== undefined) return this.#task.exchange.progress(progress);
    this.#progress = progress;
    this.inner.progress(progress);
  }

  override log(entry: LogEntry): void {
    if (this.#task === undefined) this.inner.log(entry);
  }

  override waits(words: string, signal: AbortSignal): void {
    if (this.#task === undefined) this.inner.waits?.(words, signal);
  }

  override releaseStream(retryMs: number): void {
    if (this.#task === undefined) this.inner.releaseStream(retryMs);
  }

  override canAsk(ask: Ask): boolean {
    return (this.#task?.exchange ?? this.inner).canAsk(ask);
  }

  override async ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#task !== undefined) return this.#task.exchange.ask(ask, signal);
    this.#openAsks += 1;
    this.#stopTimer();
    try {
      return await this.inner.ask(ask, signal);
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

  /** What was said while a question was open has waited for its answer. */
  #goOn(): void {
    if (this.#statusMessage === undefined) this.#startTimer();
    else this.#become();
  }

  #startTimer(): void {
    const { clock, graceMs } = this.#rules;
    if (this.#isUndecided) this.#stopTimer = clock.after(graceMs, () => this.#become());
  }

  /** The client did not ask for a task, so where there is no room for one it gets its result the plain way. */
  #become(): void {
    if (!this.#isUndecided || !this.#rules.hasRoom()) return;
    this.#decide();
    this.#answer({ task: this.#create().state });
  }

  #create(): Task {
    const said = this.#progress && toStatusMessage(this.#progress);
    const own = this.#rules.create(this.#statusMessage ?? said);
    this.#task = { own, exchange: new TaskExchange(this.inner, own, said) };
    own.signal.addEventListener('abort', () => this.#controller.abort(own.signal.reason), { once: true });
    return own;
  }

  #onAbort = (): void => {
    this.#decide();
    this.#controller.abort(this.inner.signal.reason);
  };

  #decide(): void {
    this.#isUndecided = false;
    this.#stopTimer();
    this.inner.signal.removeEventListener('abort', this.#onAbort);
  }

  /** Once the call has become a task, nobody waits for what this returns. */
  async #end<T extends ResultObject>(running: Promise<T>): Promise<T | JsonObject> {
    await Promise.allSettled([running]);
    this.#decide();
    // Nobody could get hold of a task that is made for a client that went away.
    const mustBeTask = this.#rules.isRequired && !this.signal.aborted;
    const task = this.#task?.own ?? (mustBeTask ? this.#create() : undefined);
    if (task === undefined) return running;
    await settleTask(task, running);
    return { task: task.state };
  }
}
