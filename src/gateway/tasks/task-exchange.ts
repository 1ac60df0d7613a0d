// The exchange of a call that runs as a task. The request that made it is answered already: nothing can be sent on it,
// so logs and notifications are dropped, progress is what the task says of its state, and a question waits in the task until somebody answers it there.
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Ask, Exchange, Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { dictionary } from '../../shared/containers/dictionary.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Task } from './task.ts';

/** What a client declares to be asked this. */
const NEEDS: Record<string, string> = dictionary({
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
});

export class TaskExchange extends DelegatedExchange {
  readonly #task: Task;
  /** What was last said for its progress. */
  #said: string | undefined;

  constructor(origin: Exchange, task: Task, said?: string) {
    super(origin);
    this.#task = task;
    this.#said = said;
  }

  override get signal(): AbortSignal {
    return this.#task.signal;
  }

  override get cancellation(): undefined {
    return undefined;
  }

  /** It is one already. */
  override get task(): undefined {
    return undefined;
  }

  override notify(): void {}

  /** A number alone does not take the place of what the handler itself has said. */
  override progress(progress: Progress): void {
    const { statusMessage } = this.#task.state;
    if (progress.message === undefined && statusMessage !== undefined && statusMessage !== this.#said) return;
    this.#said = toStatusMessage(progress);
    this.#task.say(this.#said);
  }

  override log(): void {}

  /** Nobody waits for a task. */
  override waits(): void {}

  override releaseStream(): void {}

  /** A ping is not a question that could wait. */
  override canAsk(ask: Ask): boolean {
    if (ask.method === 'ping') return false;
    return this.inner.canAsk(isForPage(ask) ? { ...ask, params: { ...ask.params, mode: 'url' } } : ask);
  }

  /** What is for a page alone must not wait in the task as a form: there its client would show it. */
  override ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    const put = isForPage(ask)
      ? this.inner.byPage?.(ask, this, signal)
      : this.canAsk(ask) && this.#task.ask(ask, signal);
    if (put) return put;
    const area = NEEDS[ask.method];
    const requiredCapabilities = area === undefined ? {} : { [area]: {} };
    return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method, requiredCapabilities }));
  }
}

export function toStatusMessage({ progress, total, message }: Progress): string {
  return message ?? (total === undefined ? String(progress) : `${progress} of ${total}`);
}

/** By a link it can wait in the task like any other. */
function isForPage({ page, params }: Ask): boolean {
  return page === true && params?.mode !== 'url';
}
