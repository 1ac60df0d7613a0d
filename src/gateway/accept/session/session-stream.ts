// One stream of a session, apart from the HTTP answer that carries it at the moment: answers come and go, events keep their
// ids. An event id names its stream, so that a client that comes back gets the rest of that stream and of no other.
// 1. Each event is written at most once to each carrier, in order.
// 2. While a client catches up, new events are only kept: it gets them as part of what it missed.
import type { EventStore } from '../../../protocol/event-store.ts';
import type { RequestId } from '../../../protocol/message.ts';
import { toEncodedText } from '../../codec/encoded-message.ts';
import type { EncodedMessage } from '../../codec/encoded-message.ts';
import type { SseResponse } from '../http/sse-response.ts';

export class SessionStream {
  readonly name: string;
  readonly #store: EventStore;
  #sequence = 0;
  /** The last event that was kept; an event that only primes is not. */
  #kept = 0;
  #carrier: SseResponse | undefined;
  #catchingUp: SseResponse | undefined;
  #finished = false;

  constructor(name: string, store: EventStore) {
    this.name = name;
    this.#store = store;
  }

  get isCarried(): boolean {
    return this.#carrier?.isOpen ?? false;
  }

  get isFinished(): boolean {
    return this.#finished;
  }

  isOverAfter(sequence: number): boolean {
    return this.#finished && sequence >= this.#kept;
  }

  /** Gives the client an id to come back with before there is anything to say. */
  prime(retryMs?: number): void {
    const id = this.#nextId();
    this.#carrier?.write({ id, ...(retryMs !== undefined && { retry: retryMs }), data: '' });
  }

  /** Told now where somebody listens, and kept in any case. */
  write(data: EncodedMessage): void {
    const id = this.#nextId();
    this.#kept = this.#sequence;
    this.#store.append({ stream: this.name, sequence: this.#sequence, text: toEncodedText(data) });
    this.#carrier?.write({ event: 'message', id, data });
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
    this.#catchingUp?.end();
    this.#catchingUp = undefined;
  }

  /**
   * Carries on where a client left off: what it missed first, then what comes. A client that missed nothing is given its id
   * again where it `primes`: official clients forget the id when the stream that they resumed brings none. False when another
   * request came back for the stream meanwhile.
   */
  async resume(carrier: SseResponse, { after, primes }: { after: number; primes: boolean }): Promise<boolean> {
    this.release(); // a client that comes back has lost the answer it had
    this.#catchingUp = carrier;
    let seen = after;
    while (seen < this.#kept) {
      const upTo = this.#kept;
      const missed = await this.#store.after(this.name, seen);
      if (this.#catchingUp !== carrier) return false;
      for (const event of missed) if (event.sequence <= upTo) this.#replay(carrier, event.sequence, event.text);
      seen = upTo;
    }
    this.#catchingUp = undefined;
    if (this.#finished) carrier.end();
    else this.#carrier = carrier;
    if (primes && seen === after) carrier.write({ id: toEventId(this.name, after), data: '' });
    return true;
  }

  #replay(carrier: SseResponse, sequence: number, text: string): void {
    carrier.write({ event: 'message', id: toEventId(this.name, sequence), data: text });
  }

  #nextId(): string {
    return toEventId(this.name, ++this.#sequence);
  }
}

export function toEventId(stream: string, sequence: number): string {
  return `${stream}_${sequence}`;
}

export function fromEventId(id: string): { stream: string; sequence: number } | undefined {
  const match = id.length > MAX_EVENT_ID_CHARS ? undefined : /^([glp][\w.-]*)_(\d{1,15})$/.exec(id);
  return match ? { stream: match[1]!, sequence: Number(match[2]) } : undefined;
}

/** The stream of an answer that was lost with an earlier process; the client knows by now. */
export const LOST_STREAM = 'l';
const MAX_EVENT_ID_CHARS = 300;
const MAX_REQUEST_CHARS = 100;

/** Names the request in it, so that a later process can say that its answer is lost. */
export function toPostStreamName(request: RequestId | null): string {
  const text = request === null ? '' : JSON.stringify(request);
  return text.length > MAX_REQUEST_CHARS ? 'p' : `p${Buffer.from(text).toString('base64url')}`;
}

export function requestIdOf(stream: string): RequestId | undefined {
  const text = /^p([\w-]+)\./.exec(stream)?.[1];
  if (text === undefined) return undefined;
  try {
    const id: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof id === 'string' || typeof id === 'number' ? id : undefined;
  } catch {
    return undefined; // not written by us
  }
}
