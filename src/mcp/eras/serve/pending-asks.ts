// Requests to the client that wait for its answer. We choose the ids and never reuse them, even when another process
// restores the session. A second answer, or one that nothing waits for, is reported to the caller and changes nothing.
// 1. Questions are held back until the client has confirmed its initialization.
// 2. A question lives no longer than the exchange that asked it.
import { nextArrival } from '../../../kernel/arrival.ts';
import { isError, isObject, toNotification } from '../../../kernel/message.ts';
import type { JsonObject, RequestId, RequestMessage, ResponseMessage } from '../../../kernel/message.ts';
import type { Ask } from '../../../kernel/exchange.ts';
import { OpenQuestions } from '../../../kernel/containers/open-questions.ts';
import { cancelledError } from '../../../kernel/base/cancelled-error.ts';
import { CancelledByPeer } from '../../../kernel/base/cancellation.ts';
import { GatewayError, ProtocolError, toError } from '../../../kernel/base/errors.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { readProgress } from '../notifications.ts';
import type { ServedExchange } from './served-exchange.ts';

interface Question {
  method: string;
  params?: JsonObject;
  onProgress?: Ask['onProgress'];
  onReceived?: Ask['onReceived'];
}

interface Pending {
  id: string;
  question: RequestMessage;
  onProgress: Ask['onProgress'];
  onReceived: Ask['onReceived'];
  exchange: ServedExchange;
  lost: AbortSignal | undefined;
  /** False while it is held back. */
  sent: boolean;
}

/** Session prompts need no answer, and some clients send none. */
const MAX_PENDING = 1024;
/** A health check is allowed at any time. */
const ALWAYS_ALLOWED = 'ping';

export class PendingAsks {
  /** Created by the first question; most clients are asked none. */
  #pending: OpenQuestions<Pending> | undefined;
  /** No other process makes these ids. */
  readonly #prefix = `ask-${randomId().slice(0, 8)}-`;
  #count = 0;
  #open = false;
  #closed = false;

  get isEmpty(): boolean {
    return !this.#pending?.size;
  }

  /** Sends the question on the exchange's stream. It is cancelled with the exchange, or when `lost` aborts. */
  put(asked: Question, exchange: ServedExchange, lost?: AbortSignal): Promise<JsonObject> {
    if (this.#closed) return Promise.reject(cancelledError('gone'));
    if (exchange.ended) return Promise.reject(cancelledError('answered'));
    const open = (this.#pending ??= new OpenQuestions<Pending>({ onWithdrawn: callOff, max: MAX_PENDING }));
    const id = `${this.#prefix}${++this.#count}`;
    const { onProgress, onReceived, ...wanted } = asked;
    const question: RequestMessage = { jsonrpc: '2.0', id, ...(onProgress ? withToken(wanted, id) : wanted) };
    const pending: Pending = { id, question, onProgress, onReceived, exchange, lost, sent: false };
    const answer = open.open(id, pending, { call: exchange.cancellation, asker: lost });
    if (!open.get(id)) return answer; // called off already
    if (this.#open || asked.method === ALWAYS_ALLOWED) this.#send(pending);
    return answer;
  }

  /** The client is ready for questions. */
  open(): void {
    if (this.#open) return;
    this.#open = true;
    for (const [, pending] of this.#pending?.entries() ?? []) if (!pending.sent) this.#send(pending);
  }

  /** False if nothing waits for this answer. */
  take(response: ResponseMessage, arrival: number = nextArrival()): boolean {
    const pending = this.#pending?.get(response.id as string);
    if (!pending?.sent) return false;
    const { id, question } = pending;
    const { method } = question;
    const refuse = (details: JsonObject): unknown =>
      this.#pending!.refuse(id, new GatewayError('ASK_REFUSED', { method, ...details }));
    if (isError(response)) {
      const { code, message, data } = response.error;
      refuse({ reason: `${message} (${code})`, code, origin: new ProtocolError(code, message, data) });
    } else if (isObject(response.result)) {
      pending.onReceived?.(arrival);
      this.#pending!.answer(id, response.result);
    } else refuse({ reason: 'its answer is not an object' });
    return true;
  }

  /** Passes on the client's progress on an open question. */
  progress({ progressToken, ...told }: JsonObject): void {
    const { onProgress } = this.#pending?.get(progressToken as string) ?? {};
    const progress = onProgress && readProgress(told);
    if (progress) onProgress(progress);
  }

  /** The exchange is about to be answered: cancels its open questions, so that the user is not asked in vain. */
  endOf(exchange: ServedExchange): void {
    if (!this.#pending?.size) return;
    for (const [id, pending] of this.#pending.entries()) {
      if (pending.exchange === exchange) this.#pending.withdraw(id, cancelledError('answered'));
    }
  }

  /** No more answers can arrive: rejects all questions silently. */
  close(): void {
    this.#closed = true;
    this.#pending?.refuseAll(cancelledError('gone'));
  }

  /** A question that cannot be encoded fails. */
  #send(pending: Pending): void {
    pending.sent = true;
    try {
      pending.exchange.outlet.send(pending.question);
    } catch (thrown) {
      this.#pending!.refuse(pending.id, toError(thrown));
    }
  }
}

/** Tells the client that nobody waits for its answer any more. */
function callOff({ id, exchange, lost, sent }: Pending): void {
  if (!sent) return;
  const said = lost?.reason instanceof CancelledByPeer ? lost.reason.said : { reason: 'The call that asked is over' };
  exchange.outlet.send(toNotification('notifications/cancelled', { requestId: id, ...said }));
}

/** The id of a question serves as its token. */
function withToken({ method, params }: Question, progressToken: RequestId): Question {
  const meta = isObject(params?._meta) ? params._meta : undefined;
  return { method, params: { ...params, _meta: { ...meta, progressToken } } };
}
