// A call that runs in the background, and its state in neutral form. Invariants:
// 1. A finished task never changes.
// 2. A question's key is used once per task.
// 3. The status is `input_required` exactly while questions are open.
// 4. Every change is reported once, after it is made.
import type { Ask } from '../../kernel/exchange.ts';
import { markHuman } from '../../kernel/form/human-marks.ts';
import type { JsonObject, WireError } from '../../kernel/message.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { TaskState } from '../../kernel/target.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { OpenQuestions } from '../../kernel/containers/open-questions.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { cancelledError } from '../../kernel/base/cancelled-error.ts';
import { ProtocolError, toError } from '../../kernel/base/errors.ts';
import type { GatewayError } from '../../kernel/base/errors.ts';

/** How often clients should poll. */
const POLL_MS = 500;

export interface OpenAsk {
  readonly key: string;
  readonly ask: Ask;
  /** Aborts when the answer is no longer needed. */
  readonly closed: AbortSignal;
  close(): void;
}

interface TaskOptions {
  principal: string;
  ttlMs: number;
  statusMessage?: string | undefined;
  clock: Clock;
  tell: (task: Task) => void;
}

export class Task {
  readonly id = randomId('task-');
  readonly principal: string;
  readonly #birth: TaskOptions;
  readonly #createdAt: number;
  readonly #controller = new AbortController();
  readonly #open = new OpenQuestions<OpenAsk>({ onWithdrawn: (asked) => this.#onSettled(asked) });
  readonly #usedKeys = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #status: TaskState['status'] = 'working';
  #statusMessage: string | undefined;
  #updatedAt: number;
  #outcome: { result?: JsonObject; error?: WireError } = {};

  constructor(birth: TaskOptions) {
    this.#birth = birth;
    this.principal = birth.principal;
    this.#statusMessage = birth.statusMessage;
    this.#createdAt = birth.clock.now();
    this.#updatedAt = this.#createdAt;
  }

  /** Aborts when the task is cancelled or expires, not when its request ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get status(): TaskState['status'] {
    return this.#status;
  }

  get isOver(): boolean {
    return this.#status !== 'working' && this.#status !== 'input_required';
  }

  get openAsks(): OpenAsk[] {
    return Array.from(this.#open.entries(), ([, asked]) => asked);
  }

  /** The state without open questions, result and error. */
  get summary(): TaskState {
    return {
      taskId: this.id,
      status: this.#status,
      ...(this.#statusMessage !== undefined && { statusMessage: this.#statusMessage }),
      createdAt: new Date(this.#createdAt).toISOString(),
      lastUpdatedAt: new Date(this.#updatedAt).toISOString(),
      ttlMs: this.#birth.ttlMs,
      pollIntervalMs: POLL_MS,
    };
  }

  get state(): TaskState {
    const requests = this.openAsks.map(({ key, ask }) => [key, toRequest(ask)]);
    const inputRequests = Object.fromEntries(requests) as NonNullable<TaskState['inputRequests']>;
    return { ...this.summary, ...(this.#open.size > 0 && { inputRequests }), ...this.#outcome };
  }

  /** Calls back on every change until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Makes watchers look again. */
  wake(): void {
    for (const watcher of this.#watchers) watcher();
  }

  say(statusMessage: string): void {
    if (this.isOver || statusMessage === this.#statusMessage) return;
    this.#statusMessage = statusMessage;
    this.#tell();
  }

  /** The signal withdraws the question. */
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.isOver) return Promise.reject(cancelledError('answered'));
    const key = this.#toFreshKey(ask.key);
    const closing = new AbortController();
    const close = (): void => closing.abort(cancelledError('withdrawn'));
    const answer = this.#open.open(key, { key, ask, closed: closing.signal, close }, { asker: signal });
    if (signal?.aborted) return answer;
    this.#become('input_required');
    return answer;
  }

  /** Whether only a person may answer this question. */
  isForHuman(key: string): boolean {
    return this.#open.get(key)?.ask.human === true;
  }

  /** Ignores a key that is not open: its question was answered, or never asked. */
  answer(key: string, answer: JsonObject): void {
    this.#onSettled(this.#open.answer(key, answer));
  }

  refuse(key: string, error: GatewayError | ProtocolError): void {
    this.#onSettled(this.#open.refuse(key, error));
  }

  /** Ends with the result or error of its call. */
  async settle(running: Promise<ResultObject>): Promise<void> {
    try {
      this.#end('completed', { result: toPlainObject(await running) });
    } catch (thrown) {
      this.#end('failed', { error: toWireError(thrown) });
    }
  }

  cancel(): void {
    // Ended before the abort, so that a listener of the signal cannot end the task in another way.
    this.#end('cancelled', {});
    this.#controller.abort(cancelledError('cancelled'));
  }

  #toFreshKey(wanted = 'ask'): string {
    let key = wanted;
    for (let count = 2; this.#usedKeys.has(key); count += 1) key = `${wanted}-${count}`;
    this.#usedKeys.add(key);
    return key;
  }

  #onSettled(asked: OpenAsk | undefined): void {
    if (!asked) return;
    asked.close();
    this.#become(this.#open.size === 0 ? 'working' : 'input_required');
  }

  #end(status: 'completed' | 'failed' | 'cancelled', outcome: { result?: JsonObject; error?: WireError }): void {
    if (this.isOver) return;
    const open = this.#open.refuseAll(cancelledError(status === 'cancelled' ? 'cancelled' : 'answered'));
    this.#outcome = outcome;
    this.#become(status);
    for (const asked of open) asked.close();
  }

  #become(status: TaskState['status']): void {
    this.#status = status;
    this.#tell();
  }

  #tell(): void {
    this.#updatedAt = this.#birth.clock.now();
    this.#birth.tell(this);
    this.wake();
  }
}

/** The next gateway must not let a model answer a question for a human. */
function toRequest({ method, params, human }: Ask): { method: string; params?: JsonObject } {
  if (human) return { method, params: markHuman(params) };
  return params === undefined ? { method } : { method, params };
}

/** Clients of any dialect may fetch the error, so it is kept in neutral form. */
function toWireError(thrown: unknown): WireError {
  const error = toError(thrown);
  if (error instanceof ProtocolError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  }
  const data = Object.keys(error.details).length > 0 ? { data: error.details } : {};
  return { code: error.row.code, message: error.message, ...data };
}
