// The channel of a call that runs as a task. Its request is answered already, so logs and notifications are dropped, progress
// becomes the task's status, and questions wait in the task.
import { deriveExchange } from '../../protocol/derived-exchange.ts';
import type { ChannelPart } from '../../protocol/derived-exchange.ts';
import type { Ask, Exchange, Progress } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { CAPABILITY_BY_ASK } from '../../protocol/methods.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Task } from './task.ts';

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
    if (ask.method === 'ping') return false;
    if (ask.human && this.#origin.client.isUnproven) return this.#origin.canAsk(ask);
    return this.#origin.canAsk(isForPage(ask) ? { ...ask, params: { ...ask.params, mode: 'url' } } : ask);
  }

  /** A question for the page must not wait in the task as a form, because the client would show it. */
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (ask.human && this.#origin.client.isUnproven) return this.#origin.ask(ask, signal);
    const put = isForPage(ask)
      ? this.#origin.byPage?.(ask, this.exchange, signal)
      : this.canAsk(ask) && this.#task.ask(ask, signal);
    if (put) return put;
    const area = CAPABILITY_BY_ASK[ask.method];
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
