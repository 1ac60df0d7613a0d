// Requests to the client that wait for its answer. Ids are ours, never reused within a connection; a second answer, or one
// that nobody waits for, is told to the caller and changes nothing.
import type { JsonObject, RequestId, RequestMessage, ResponseMessage } from '../../protocol/message.ts';
import { isError, isObject, toNotification } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { createCounter } from '../../shared/ids.ts';
import type { Outlet } from './outlet.ts';
import type { ServedExchange } from './served-exchange.ts';

interface Pending {
  method: string;
  resolve(answer: JsonObject): void;
  reject(reason: GatewayError): void;
}

export class PendingAsks {
  #pending = new Map<RequestId, Pending>();
  #nextId = createCounter('ask-');

  /** Sends the question on the exchange's stream; called off together with the exchange. */
  put(question: { method: string; params?: JsonObject }, exchange: ServedExchange): Promise<JsonObject> {
    if (exchange.cancelled) return Promise.reject(new GatewayError('CANCELLED'));
    const id = this.#nextId();
    const { method } = question;
    const { outlet, signal } = exchange;
    return new Promise((resolve, reject) => {
      const callOff = () => this.#callOff(id, outlet);
      const settle =
        <T>(by: (value: T) => void) =>
        (value: T) => {
          this.#pending.delete(id);
          signal.removeEventListener('abort', callOff);
          by(value);
        };
      this.#pending.set(id, { method, resolve: settle(resolve), reject: settle(reject) });
      signal.addEventListener('abort', callOff);
      outlet.send(toRequest(id, question));
    });
  }

  /** False when nobody waits for this answer. */
  take(response: ResponseMessage): boolean {
    const pending = response.id === null ? undefined : this.#pending.get(response.id);
    if (!pending) return false;
    const { method } = pending;
    if (isError(response)) {
      const { code, message } = response.error;
      pending.reject(new GatewayError('ASK_REFUSED', { method, reason: `${message} (${code})`, code }));
    } else if (isObject(response.result)) pending.resolve(response.result);
    else pending.reject(new GatewayError('ASK_REFUSED', { method, reason: 'its answer is not an object' }));
    return true;
  }

  close(): void {
    for (const pending of [...this.#pending.values()]) pending.reject(new GatewayError('CANCELLED'));
  }

  #callOff(id: RequestId, outlet: Outlet): void {
    outlet.send(
      toNotification('notifications/cancelled', { requestId: id, reason: 'The call that asked was cancelled' }),
    );
    this.#pending.get(id)?.reject(new GatewayError('CANCELLED'));
  }
}

function toRequest(id: RequestId, question: { method: string; params?: JsonObject }): RequestMessage {
  return { jsonrpc: '2.0', id, ...question };
}
