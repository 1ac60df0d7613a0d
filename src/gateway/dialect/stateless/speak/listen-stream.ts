// One `subscriptions/listen` with a fixed filter, over as many requests as it takes. Invariants:
// 1. `acknowledged` is settled once: fulfilled by the first acknowledgement, or by a server that ends the stream at once
//    because it has nothing to tell; rejected when the server refuses or stays silent.
// 2. A stream that was acknowledged is opened again when it breaks, ever more rarely, until `stop`, until the connection is
//    gone, or until the server refuses it.
// 3. Nothing is told before the acknowledgement or after `stop`.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, NotificationMessage } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import type { OutgoingParams } from '../../../../protocol/raw/encoded-params.ts';
import { systemClock, ticksOf } from '../../../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../../../shared/errors.ts';
import { META } from '../../meta.ts';
import type { Wire } from '../../speak/server-dialect.ts';
import { toHeaders } from './outgoing-headers.ts';

const ACK = 'notifications/subscriptions/acknowledged';
const METHOD = 'subscriptions/listen';
const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
/** A stream that lived this long was no failure. */
const LIVED_MS = 10_000;
const ACK_MS = 15_000;

export interface ListenStreamOptions {
  wire: Wire;
  revision: string;
  filter: JsonObject;
  envelope(params: JsonObject): OutgoingParams;
  onNotification(notification: NotificationMessage): void;
  /** The stream broke and is back: something may have been missed. */
  onGap(honoured: JsonObject): void;
  /** Tests give their own. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class ListenStream {
  readonly filter: JsonObject;
  readonly acknowledged: Promise<void>;
  /** What the server will tell of. */
  honoured: JsonObject = {};
  #isOver = false;
  readonly #options: ListenStreamOptions;
  readonly #stop = new AbortController();
  /** Of the request that is open now. */
  #id: number | undefined;
  #attempt = new AbortController();
  #unheard: NodeJS.Timeout | undefined;
  #hasAck = false;
  #onAck!: () => void;

  constructor(options: ListenStreamOptions) {
    this.#options = options;
    this.filter = options.filter;
    this.acknowledged = new Promise((resolve, reject) => {
      this.#onAck = resolve;
      void this.#run()
        .then(resolve, reject)
        .finally(() => (this.#isOver = true));
    });
    this.acknowledged.catch(() => {}); // its opener is told, and may not wait any more
  }

  /** Nothing comes any more, and it will not be opened again. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when it was for this stream. `own`: it came on the stream of its request. */
  take(notification: NotificationMessage, own: boolean): boolean {
    const { method, params = {} } = notification;
    const id = subscriptionOf(notification);
    if (method === 'notifications/cancelled') return this.#endedBy(params);
    const isMine = own || id === this.#id || (method === ACK && id === undefined);
    if (!isMine) return false;
    if (method === ACK) this.#acknowledge(params);
    else if (this.#hasAck && !this.#stop.signal.aborted) this.#options.onNotification(notification);
    return true;
  }

  stop(): void {
    this.#stop.abort();
    this.#attempt.abort();
  }

  /** The specification names two ways for a server to end a stream; this is the odd one. */
  #endedBy({ requestId }: JsonObject): boolean {
    if (requestId !== this.#id) return false;
    this.#attempt.abort();
    return true;
  }

  #acknowledge({ notifications }: JsonObject): void {
    clearTimeout(this.#unheard);
    const isBack = this.#hasAck;
    this.honoured = isObject(notifications) ? notifications : this.filter;
    this.#hasAck = true;
    this.#onAck();
    if (isBack) this.#options.onGap(this.honoured);
  }

  async #run(): Promise<void> {
    // Within one process the acknowledgement comes before the request is sent: its opener must know of it by then.
    await Promise.resolve();
    if (this.#stop.signal.aborted) return;
    let failures = 0;
    do {
      const since = ticksOf(systemClock);
      try {
        await this.#listen();
        if (!this.#hasAck || Object.keys(this.honoured).length === 0) return; // the server has nothing to tell
      } catch (thrown) {
        if (this.#stop.signal.aborted) return;
        if (!this.#hasAck || isFinal(thrown)) throw thrown;
      }
      if (ticksOf(systemClock) - since >= LIVED_MS) failures = 0;
      const ms = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]! * (0.5 + Math.random() / 2);
      await (this.#options.pause ?? pause)(ms, this.#stop.signal);
    } while (!this.#stop.signal.aborted && this.#options.wire.closedBy === undefined);
  }

  async #listen(): Promise<void> {
    const { wire, filter, revision } = this.#options;
    const params = { notifications: filter };
    const attempt = (this.#attempt = new AbortController());
    this.#unheard = setTimeout(() => attempt.abort(), ACK_MS).unref();
    try {
      await wire.call({
        method: METHOD,
        headers: wire.http ? toHeaders(METHOD, params, revision) : undefined,
        toParams: (id) => {
          this.#id = id;
          return this.#options.envelope(params);
        },
        signal: attempt.signal,
        cancelByStream: true,
        endless: true,
        onNotify: (notification) => void this.take(notification, true),
      });
    } catch (thrown) {
      if (!attempt.signal.aborted || this.#hasAck) throw thrown;
      throw new GatewayError('UPSTREAM_TIMEOUT', { server: wire.name, method: METHOD, ms: ACK_MS, why: '' });
    } finally {
      clearTimeout(this.#unheard);
    }
  }
}

/** The stream that a notification belongs to; undefined when it names none. */
export function subscriptionOf({ params }: NotificationMessage): unknown {
  return isObject(params?._meta) ? params._meta[META.subscriptionId] : undefined;
}

/** Does not keep the process alive, and ends when it is stopped. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {}); // stopped: the caller looks at the signal
}

/** A server that does not know the request, or the filter, will not know it later. */
function isFinal(thrown: unknown): boolean {
  return thrown instanceof ProtocolError && [-32601, -32602].includes(thrown.code);
}
