// Requests to the client that wait for its answer. We choose the ids and never reuse them, even when another process
// restores the session. A second answer, or one that nothing waits for, is reported to the caller and changes nothing.
// 1. Questions are held back until the client has confirmed its initialization.
// 2. A question lives no longer than the exchange that asked it.
import type { JsonObject, RequestId, RequestMessage, ResponseMessage } from '../../../protocol/message.ts';
import { isError, isObject, toNotification } from '../../../protocol/message.ts';
import type { Ask } from '../../../protocol/exchange.ts';
import { CancelledByPeer } from '../../../shared/cancellation.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { createCounter, randomId } from '../../../shared/crypto/ids.ts';
import { toError } from '../../../shared/to-error.ts';
import { readProgress } from '../progress.ts';
import type { ServedExchange } from './served-exchange.ts';

interface Question {
  method: string;
  params?: JsonObject;
  onProgress?: Ask['onProgress'];
}

interface Pending {
  question: RequestMessage;
  onProgress: Ask['onProgress'];
  exchange: ServedExchange;
  /** False while it is held back. */
  sent: boolean;
  resolve(answer: JsonObject): void;
  reject(reason: unknown): void;
}

/** Limits the questions that a silent client leaves open; the oldest are dropped first. */
const MAX_PENDING = 1024;
/** A health check is allowed at any time. */
const ALWAYS_ALLOWED = 'ping';

export class PendingAsks {
  #pending = new Map<RequestId, Pending>();

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }
  #nextId = createCounter(`ask-${randomId().slice(0, 8)}-`);
  #open = false;
  #closed = false;

  /** Sends the question on the exchange's stream. It is cancelled with the exchange, or when `lost` aborts. */
  put(asked: Question, exchange: ServedExchange, lost?: AbortSignal): Promise<JsonObject> {
    if (this.#closed || exchange.cancelled || exchange.ended || lost?.aborted)
      return Promise.reject(new GatewayError('CANCELLED'));
    const id = this.#nextId();
    const { onProgress, ...question } = asked;
    const { cancellation } = exchange;
    if (this.#pending.size >= MAX_PENDING) this.#forgetOldest();
    return new Promise((resolve, reject) => {
      const callOff = () => this.#callOff(id, lost?.reason);
      const settle =
        <T>(by: (value: T) => void) =>
        (value: T) => {
          this.#pending.delete(id);
          cancellation.removeEventListener('abort', callOff);
          lost?.removeEventListener('abort', callOff);
          by(value);
        };
      const pending: Pending = {
        question: { jsonrpc: '2.0', id, ...(onProgress ? withToken(question, id) : question) },
        onProgress,
        exchange,
        sent: false,
        resolve: settle(resolve),
        reject: settle(reject),
      };
      this.#pending.set(id, pending);
      cancellation.addEventListener('abort', callOff);
      lost?.addEventListener('abort', callOff);
      if (this.#open || question.method === ALWAYS_ALLOWED) send(pending);
    });
  }

  /** The client is ready for questions. */
  open(): void {
    if (this.#open) return;
    this.#open = true;
    for (const pending of this.#pending.values()) if (!pending.sent) send(pending);
  }

  /** False if nothing waits for this answer. */
  take(response: ResponseMessage): boolean {
    const pending = response.id === null ? undefined : this.#pending.get(response.id);
    if (!pending?.sent) return false;
    const { method } = pending.question;
    if (isError(response)) {
      const { code, message, data } = response.error;
      const origin = new ProtocolError(code, message, data);
      pending.reject(new GatewayError('ASK_REFUSED', { method, reason: `${message} (${code})`, code, origin }));
    } else if (isObject(response.result)) pending.resolve(response.result);
    else pending.reject(new GatewayError('ASK_REFUSED', { method, reason: 'its answer is not an object' }));
    return true;
  }

  /** Passes on the client's progress on an open question. */
  progress({ progressToken, ...told }: JsonObject): void {
    const { onProgress } = this.#pending.get(progressToken as RequestId) ?? {};
    const progress = onProgress && readProgress(told);
    if (progress) onProgress(progress);
  }

  /** The exchange is about to be answered: cancels its open questions, so that the user is not asked in vain. */
  endOf(exchange: ServedExchange): void {
    if (this.#pending.size === 0) return;
    for (const [id, pending] of this.#pending) if (pending.exchange === exchange) this.#callOff(id);
  }

  /** No more answers can arrive: rejects all questions silently. */
  close(): void {
    this.#closed = true;
    for (const pending of this.#pending.values()) pending.reject(new GatewayError('CANCELLED'));
  }

  /** Session prompts need no answer, and some clients send none. */
  #forgetOldest(): void {
    for (const [, oldest] of this.#pending) return oldest.reject(new GatewayError('CANCELLED'));
  }

  #callOff(id: RequestId, why?: unknown): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    pending.reject(new GatewayError('CANCELLED'));
    if (!pending.sent) return;
    const said = why instanceof CancelledByPeer ? why.said : { reason: 'The call that asked is over' };
    pending.exchange.outlet.send(toNotification('notifications/cancelled', { requestId: id, ...said }));
  }
}

/** The id of a question serves as its token. */
function withToken({ method, params }: Question, progressToken: RequestId): Question {
  const meta = isObject(params?._meta) ? params._meta : undefined;
  return { method, params: { ...params, _meta: { ...meta, progressToken } } };
}

/** A question that cannot be encoded fails. */
function send(pending: Pending): void {
  pending.sent = true;
  try {
    pending.exchange.outlet.send(pending.question);
  } catch (thrown) {
    pending.reject(toError(thrown));
  }
}
