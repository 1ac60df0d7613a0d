// Test helper: a wire whose server is a function in the test. The build leaves `*.contract.ts` out.
import type { Ask } from '../../protocol/exchange.ts';
import type { JsonObject, NotificationMessage, ResponseMessage } from '../../protocol/message.ts';
import type { ServerEvents } from '../../protocol/server-view.ts';
import type { Change } from '../../protocol/target.ts';
import { GatewayError } from '../../shared/errors.ts';
import { createLog } from '../../shared/log.ts';
import { EncodedParams } from '../../protocol/raw/encoded-params.ts';
import type { Wire, WireCall, WireForm } from './speak/server-dialect.ts';

/** A call as it reached the server, with its request id. */
export interface RecordedCall extends WireCall, WireForm {
  onProgress?: WireCall['onProgress'];
  onNotify?: WireCall['onNotify'];
  id: number;
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
  held = 0;
  readonly #answer: (call: RecordedCall) => unknown;

  constructor(answer: (call: RecordedCall) => unknown, { http = false }: { http?: boolean } = {}) {
    this.#answer = answer;
    this.http = http;
  }

  async call(call: WireCall, form: WireForm = {}): Promise<unknown> {
    if (call.signal?.aborted) throw new GatewayError('CANCELLED');
    const id = this.calls.length + 1;
    const sent = form.toParams?.(id) ?? call.params;
    const params = sent instanceof EncodedParams ? sent.toJSON() : sent;
    return new Promise((resolve, reject) => {
      const called: RecordedCall = { ...call, ...form, params, id, resolve, reject };
      this.calls.push(called);
      call.signal?.addEventListener('abort', () => reject(new GatewayError('CANCELLED')));
      Promise.resolve()
        .then(() => this.#answer(called))
        .then((answer) => answer === later || resolve(answer), reject);
    })
      .then((result) => (form.read ? form.read(result) : result))
      .finally(() => (this.calls[id - 1]!.isSettled = true));
  }

  async notify(notification: NotificationMessage): Promise<void> {
    this.notified.push(notification);
  }

  async respond(response: ResponseMessage): Promise<void> {
    this.responded.push(response);
  }

  sole(): WireCall | undefined {
    const open = this.calls.filter(({ endless, isSettled }) => !endless && !isSettled);
    return open.length === 1 ? open[0] : undefined;
  }

  hold(_call?: object): () => void {
    this.held++;
    return () => void this.held--;
  }

  get methods(): string[] {
    return this.calls.map(({ method }) => method);
  }
}

export interface FakeEvents extends ServerEvents {
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
