// Test helper: a wire whose server is a function in the test. The build leaves `*.contract.ts` out.
import type { Ask } from '../../kernel/exchange.ts';
import type { JsonObject, NotificationMessage, ResponseMessage } from '../../kernel/message.ts';
import type { OutgoingCall, ServerEvents } from '../../kernel/server-view.ts';
import type { Change } from '../../kernel/target.ts';
import { EncodedParams } from '../../kernel/raw/encoded-params.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Wire } from './speak/server-dialect.ts';
import { toWireRequest } from './speak/wire-request.ts';
import type { WireForm, WireRequest } from './speak/wire-request.ts';

/** A call as it reached the server, with its request id. */
export interface RecordedCall extends Pick<
  WireRequest,
  'id' | 'method' | 'signal' | 'headers' | 'cancelByStream' | 'cancelNotice' | 'onLate' | 'takesRaw' | 'endless'
> {
  params: JsonObject | undefined;
  /** In neutral words. */
  call: OutgoingCall;
  timeoutMs: number | undefined;
  onProgress: WireRequest['onProgress'];
  onNotify: WireRequest['onNotify'];
  isSettled?: boolean;
  /** Settled by the test, for calls whose answer is `later`. */
  resolve(result?: unknown): void;
  reject(error: Error): void;
}

/** Makes a call wait for the test to settle it. */
export const later: unique symbol = Symbol('later');

export class FakeWire implements Wire {
  readonly name = 'fake';
  readonly log = createLog({ level: 'silent' });
  readonly http: boolean;
  closedBy: string | undefined;
  readonly calls: RecordedCall[] = [];
  readonly notified: NotificationMessage[] = [];
  readonly responded: ResponseMessage[] = [];
  paused = 0;
  readonly #answer: (call: RecordedCall) => unknown;

  constructor(answer: (call: RecordedCall) => unknown, { http = false }: { http?: boolean } = {}) {
    this.#answer = answer;
    this.http = http;
  }

  call(call: OutgoingCall, form?: WireForm): Promise<unknown> {
    return this.send(toWireRequest(call, form));
  }

  async send(request: WireRequest): Promise<unknown> {
    if (request.signal?.aborted) throw new GatewayError('CANCELLED');
    const id = (request.id = this.calls.length + 1);
    const sent = request.toParams(id);
    const params = sent instanceof EncodedParams ? sent.toJSON() : sent;
    return new Promise((resolve, reject) => {
      const { call, method, signal, headers, cancelByStream, onLate, takesRaw, endless } = request;
      const called: RecordedCall = {
        id,
        call,
        method,
        params,
        signal,
        headers,
        cancelByStream,
        onLate,
        takesRaw,
        endless,
        resolve,
        reject,
        timeoutMs: call.timeoutMs,
        onProgress: (progress) => request.onProgress(progress),
        onNotify: (notification) => request.onNotify(notification),
        cancelNotice: (requestId, said) => request.cancelNotice(requestId, said),
      };
      this.calls.push(called);
      request.signal?.addEventListener('abort', () => reject(new GatewayError('CANCELLED')));
      Promise.resolve()
        .then(() => this.#answer(called))
        .then((answer) => answer === later || resolve(answer), reject);
    })
      .then((result) => request.read(result))
      .finally(() => (this.calls[id - 1]!.isSettled = true));
  }

  async notify(notification: NotificationMessage): Promise<void> {
    this.notified.push(notification);
  }

  async respond(response: ResponseMessage): Promise<void> {
    this.responded.push(response);
  }

  sole(): OutgoingCall | undefined {
    const open = this.calls.filter(({ endless, isSettled }) => !endless && !isSettled);
    return open.length === 1 ? open[0]?.call : undefined;
  }

  pauseTimeouts(_call?: object): () => void {
    this.paused++;
    return () => void this.paused--;
  }

  get methods(): string[] {
    return this.calls.map(({ method }) => method);
  }
}

interface FakeEvents extends ServerEvents {
  changes: Change[];
  asks: Ask[];
}

/** `answer` answers the server's questions. */
export function fakeEvents(answer: (ask: Ask, signal: AbortSignal) => unknown = () => ({})): FakeEvents {
  const changes: Change[] = [];
  const asks: Ask[] = [];
  return {
    changes,
    asks,
    onChange: (change) => void changes.push(change),
    async onAsk(ask, signal) {
      asks.push(ask);
      return (await answer(ask, signal)) as JsonObject;
    },
  };
}

/** Resolves when all pending work is done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}
