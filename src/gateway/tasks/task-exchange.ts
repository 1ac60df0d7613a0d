// The exchange of a call that runs as a task. Its request is answered already, so logs and notifications are dropped, progress
// becomes the task's status, and questions wait in the task.
import { DelegatedExchange } from '../../protocol/delegated-exchange.ts';
import type { Ask, Exchange, Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { dictionary } from '../../shared/containers/dictionary.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Task } from './task.ts';

/** The capability that each question needs. */
const NEEDS: Record<string, string> = dictionary({
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
});

export class TaskExchange extends DelegatedExchange {
  readonly #task: Task;
  /** The last status made from progress. */
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

  /** It is a task already. */
  override get task(): undefined {
    return undefined;
  }

  override notify(): void {}

  /** A bare number does not replace a status of the handler. */
  override progress(progress: Progress): void {
    const { statusMessage } = this.#task.state;
    if (progress.message === undefined && statusMessage !== undefined && statusMessage !== this.#said) return;
    this.#said = toStatusMessage(progress);
    this.#task.say(this.#said);
  }

  override log(): void {}

  /** There is no request to keep alive. */
  override waits(): void {}

  override releaseStream(): void {}

  /** A ping cannot wait in a task. */
  override canAsk(ask: Ask): boolean {
    if (ask.method === 'ping') return false;
    return this.inner.canAsk(isForPage(ask) ? { ...ask, params: { ...ask.params, mode: 'url' } } : ask);
  }

  /** A question for the page must not wait in the task as a form, because the client would show it. */
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

/** As a link it can wait in the task. */
function isForPage({ page, params }: Ask): boolean {
  return page === true && params?.mode !== 'url';
}
