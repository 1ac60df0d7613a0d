// One stream of a session, apart from the HTTP answer that carries it at the moment: answers come and go, events keep their
// ids. An event id names its stream, so that a client that comes back gets the rest of that stream and of no other.
import type { EventStore } from './event-store.ts';
import type { SseResponse } from './sse-response.ts';

export class SessionStream {
  readonly name: string;
  readonly #store: EventStore;
  #sequence = 0;
  #carrier: SseResponse | undefined;
  #finished = false;

  constructor(name: string, store: EventStore) {
    this.name = name;
    this.#store = store;
  }

  get isCarried(): boolean {
    return this.#carrier?.isOpen ?? false;
  }

  /** Gives the client an id to come back with before there is anything to say. */
  prime(retryMs?: number): void {
    const id = this.#nextId();
    this.#carrier?.write({ id, ...(retryMs !== undefined && { retry: retryMs }), data: '' });
  }

  /** False when nobody could be told now; the event is kept all the same. */
  write(text: string): boolean {
    const id = this.#nextId();
    this.#store.append({ stream: this.name, sequence: this.#sequence, text });
    return this.#carrier?.write({ event: 'message', id, data: text }) ?? false;
  }

  /** The last event has been written. */
  finish(): void {
    this.#finished = true;
    this.#carrier?.end();
  }

  carry(carrier: SseResponse): void {
    this.#carrier = carrier;
  }

  /** Lets go of the HTTP answer, not of the stream. */
  release(): void {
    this.#carrier?.end();
    this.#carrier = undefined;
  }

  /** Carries on where a client left off: what it missed first, then what comes. */
  async resume(carrier: SseResponse, sequence: number): Promise<void> {
    const missed = await this.#store.after(this.name, sequence);
    for (const event of missed) {
      carrier.write({ event: 'message', id: toEventId(this.name, event.sequence), data: event.text });
    }
    if (this.#finished) carrier.end();
    else this.#carrier = carrier;
  }

  #nextId(): string {
    return toEventId(this.name, ++this.#sequence);
  }
}

export function toEventId(stream: string, sequence: number): string {
  return `${stream}_${sequence}`;
}

export function fromEventId(id: string): { stream: string; sequence: number } | undefined {
  const match = /^([gp]\d*)_(\d{1,15})$/.exec(id);
  return match ? { stream: match[1]!, sequence: Number(match[2]) } : undefined;
}
