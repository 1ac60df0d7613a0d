// Keeps one `subscriptions/listen` with a fixed filter open, over as many requests as needed.
// 1. `acknowledged` settles once: it resolves with the first acknowledgement, or when the server ends the stream at
//    once because it has nothing to report; it rejects when the server refuses or stays silent.
// 2. An acknowledged stream that breaks is reopened with growing pauses, until `stop`, until the connection closes, or
//    until the server refuses.
// 3. Nothing is reported before the acknowledgement or after `stop`.
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage } from '../../../kernel/message.ts';
import type { OutgoingParams } from '../../../kernel/raw/encoded-params.ts';
import { systemClock, ticksOf } from '../../../kernel/base/clock.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { META } from '../meta.ts';
import type { Wire } from '../speak/server-dialect.ts';
import { toHeaders } from './headers.ts';

const ACK = 'notifications/subscriptions/acknowledged';
const METHOD = 'subscriptions/listen';
const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
/** A stream that lasted this long did not fail. */
const LIVED_MS = 10_000;
const ACK_MS = 15_000;

interface ListenStreamOptions {
  wire: Wire;
  revision: string;
  filter: JsonObject;
  envelope(params: JsonObject): OutgoingParams;
  onNotification(notification: NotificationMessage): void;
  /** The stream was reopened: notifications may have been missed. */
  onGap(honoured: JsonObject): void;
  /** Tests give their own. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class ListenStream {
  readonly filter: JsonObject;
  readonly acknowledged: Promise<void>;
  /** The filter that the server accepted. */
  honoured: JsonObject = {};
  #isOver = false;
  readonly #options: ListenStreamOptions;
  readonly #stop = new AbortController();
  /** The id of the open request. */
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
    this.acknowledged.catch(() => {}); // the opener gets the error, if it still waits
  }

  /** Ended for good. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the notification belongs to this stream. `own` means that it came on the stream of its request. */
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

  /** The less common of the specification's two ways to end a stream. */
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
    // In-process, the acknowledgement arrives before `send` returns; let the opener see it first.
    await Promise.resolve();
    if (this.#stop.signal.aborted) return;
    let failures = 0;
    do {
      const since = ticksOf(systemClock);
      try {
        await this.#listen();
        if (!this.#hasAck || Object.keys(this.honoured).length === 0) return; // the server has nothing to report
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
      const call = {
        method: METHOD,
        signal: attempt.signal,
        onNotify: (notification: NotificationMessage) => void this.take(notification, true),
      };
      await wire.call(call, {
        headers: wire.http ? toHeaders(METHOD, params, revision) : undefined,
        toParams: (id) => {
          this.#id = id;
          return this.#options.envelope(params);
        },
        cancelByStream: true,
        endless: true,
      });
    } catch (thrown) {
      if (!attempt.signal.aborted || this.#hasAck) throw thrown;
      throw new GatewayError('UPSTREAM_TIMEOUT', { server: wire.name, method: METHOD, ms: ACK_MS, why: '' });
    } finally {
      clearTimeout(this.#unheard);
    }
  }
}

/** The stream that a notification names, if any. */
export function subscriptionOf({ params }: NotificationMessage): unknown {
  return isObject(params?._meta) ? params._meta[META.subscriptionId] : undefined;
}

/** Waits without keeping the process alive; ends early on abort. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {}); // aborted: the caller checks the signal
}

/** A server that lacks the request, or the filter, will not gain it later. */
function isFinal(thrown: unknown): boolean {
  return thrown instanceof ProtocolError && [-32601, -32602].includes(thrown.code);
}
