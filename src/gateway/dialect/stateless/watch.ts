// Keeps one `subscriptions/listen` stream open for all that our side wants to be told. A filter cannot be amended: a new
// stream is opened first and the old one closed once the new one is acknowledged, so nothing is missed in between.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, NotificationMessage } from '../../../protocol/message.ts';
import type { ServerEvents } from '../../../protocol/server-view.ts';
import { toChange } from '../handshake/handshake-speaker.ts';
import { toHeaders } from './outgoing-headers.ts';
import type { StatelessSpeaker } from './stateless-speaker.ts';

const ACK = 'notifications/subscriptions/acknowledged';
const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 30_000];

export class Watch {
  readonly #speaker: StatelessSpeaker;
  readonly #events: ServerEvents;
  #changes = false;
  #uris = new Set<string>();
  #current: AbortController | undefined;
  #onAck: () => void = () => {};

  constructor(speaker: StatelessSpeaker, events: ServerEvents) {
    this.#speaker = speaker;
    this.#events = events;
  }

  /** Wants to be told of changed lists. */
  changes(): void {
    if (this.#changes) return;
    this.#changes = true;
    void this.#reopen().catch(() => {}); // a server without push features may refuse: then there is nothing to hear
  }

  async add(uri: string): Promise<void> {
    if (this.#uris.has(uri)) return;
    this.#uris.add(uri);
    await this.#reopen();
  }

  async remove(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) await this.#reopen();
  }

  onNotification({ method, params = {} }: NotificationMessage): void {
    if (method === ACK) return this.#onAck();
    const change = toChange(method, params);
    if (change) this.#events.onChange(change);
  }

  stop(): void {
    this.#current?.abort();
    this.#current = undefined;
  }

  /** Resolves when the server has acknowledged the new filter. */
  #reopen(): Promise<void> {
    const previous = this.#current;
    if (!this.#changes && this.#uris.size === 0) {
      this.stop();
      return Promise.resolve();
    }
    const controller = new AbortController();
    this.#current = controller;
    return new Promise((resolve, reject) => {
      const onAck = (): void => {
        previous?.abort();
        resolve();
      };
      void this.#run(controller.signal, onAck).catch(reject);
    });
  }

  /** Listens until it is told to stop. A stream that was acknowledged once is opened again when it breaks. */
  async #run(signal: AbortSignal, onAck: () => void): Promise<void> {
    let failures = 0;
    let acknowledged = false;
    while (!signal.aborted) {
      try {
        await this.#listen(signal, () => {
          failures = 0;
          acknowledged = true;
          onAck();
        });
        if (!acknowledged) return onAck(); // closed at once: the server has nothing to tell
      } catch (thrown) {
        if (signal.aborted) return;
        if (!acknowledged) throw thrown;
      }
      const pause = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]! * (0.5 + Math.random());
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {}); // aborted: the loop ends
    }
  }

  async #listen(signal: AbortSignal, onAck: () => void): Promise<void> {
    const { wire, server } = this.#speaker;
    this.#onAck = onAck; // on a shared channel nothing but its kind tells which stream it is for
    const params = this.#speaker.envelope({ params: { notifications: this.#filter() } });
    await wire.call({
      method: 'subscriptions/listen',
      params,
      headers: wire.http ? toHeaders('subscriptions/listen', params, server.revision) : undefined,
      signal,
      cancelByStream: true,
      endless: true,
      onNotify: (notification) => this.onNotification(notification),
    });
  }

  #filter(): JsonObject {
    const { tools, prompts, resources } = this.#speaker.server.capabilities;
    return {
      ...(this.#changes && tools?.listChanged && { toolsListChanged: true }),
      ...(this.#changes && prompts?.listChanged && { promptsListChanged: true }),
      ...(this.#changes && resources?.listChanged && { resourcesListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }
}
