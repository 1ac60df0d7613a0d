// One event stream of a session, independent of the HTTP answer that currently carries it: answers come and go, event ids stay. An event id names its
// stream, so that a client that resumes gets the rest of that stream only. Events are kept in memory unless another store is given.
// 1. Each event is written at most once to each carrier, in order.
// 2. While a client catches up, new events are only stored; it gets them with those it missed.
import type { RequestId } from '../../../kernel/message.ts';
import { HeldShare, UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { EventStore, StoredEvent } from '../../eras/serve/serve-context.ts';
import { toEncodedText } from '../../wire/json-rpc.ts';
import type { EncodedMessage } from '../../wire/json-rpc.ts';
import type { SseResponse } from '../http/sse-response.ts';

export class SessionStream {
  readonly name: string;
  readonly #store: EventStore;
  #sequence = 0;
  /** The last stored event. Priming events are not stored. */
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

  /** Sends an id to resume from before there is any data. */
  prime(retryMs?: number): void {
    const id = this.#nextId();
    this.#carrier?.write({ id, ...(retryMs !== undefined && { retry: retryMs }), data: '' });
  }

  /** Sends the event if a carrier is attached, and stores it in any case. */
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

  /** Ends the HTTP answer but keeps the stream. */
  release(): void {
    this.#carrier?.end();
    this.#carrier = undefined;
    this.#catchingUp?.end();
    this.#catchingUp = undefined;
  }

  /**
   * Resumes after an event: first the missed events, then new ones. A client that missed nothing gets its id again if
   * it `primes`, because official clients forget the id when the resumed stream brings none. Returns false if another
   * request resumed the stream meanwhile.
   */
  async resume(carrier: SseResponse, { after, primes }: { after: number; primes: boolean }): Promise<boolean> {
    this.release(); // a client that resumes has lost its old answer
    this.#catchingUp = carrier;
    let seen = after;
    while (seen < this.#kept) {
      const upTo = this.#kept;
      const missed = await this.#store.after(this.name, seen);
      if (this.#catchingUp !== carrier) return false;
      for (const { sequence, text } of missed)
        if (sequence <= upTo) carrier.write({ event: 'message', id: toEventId(this.name, sequence), data: text });
      seen = upTo;
    }
    this.#catchingUp = undefined;
    if (this.#finished) carrier.end();
    else this.#carrier = carrier;
    if (primes && seen === after) carrier.write({ id: toEventId(this.name, after), data: '' });
    return true;
  }

  #nextId(): string {
    return toEventId(this.name, ++this.#sequence);
  }
}

/** Names the stream that reports an answer lost with an earlier process. */
export const LOST_STREAM = 'l';
const MAX_EVENT_ID_CHARS = 300;
const MAX_REQUEST_CHARS = 100;

export function toEventId(stream: string, sequence: number): string {
  return `${stream}_${sequence}`;
}

export function fromEventId(id: string): { stream: string; sequence: number } | undefined {
  const match = id.length > MAX_EVENT_ID_CHARS ? undefined : /^([glp][\w.-]*)_(\d{1,15})$/.exec(id);
  return match ? { stream: match[1]!, sequence: Number(match[2]) } : undefined;
}

/** The name contains the request id, so that a later process can report the lost answer. */
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
    return undefined; // not one of our names
  }
}

/**
 * Keeps the events of one session in memory, up to a limit. The oldest events go first; a client that asks for an older one gets the rest.
 * `owner`: whose session it is.
 */
export function createMemoryEventStore(
  { maxEvents, maxEventBytes, maxHeldBytes: maxBytes }: Limits,
  owner = '',
): EventStore & { clear(): void } {
  const events: StoredEvent[] = [];
  let bytes = 0;
  let holding: HeldShare | undefined;
  const clear = (): void => {
    events.length = 0;
    bytes = 0;
    holding?.release();
    holding = undefined;
  };
  return {
    clear,
    append(event) {
      events.push(event);
      bytes += event.text.length;
      while (events.length > maxEvents || (bytes > maxEventBytes && events.length > 1)) {
        bytes -= events.shift()!.text.length;
      }
      holding ??= bytes > UNCOUNTED_BYTES ? new HeldShare({ owner, maxBytes, cut: clear }) : undefined;
      holding?.set(bytes);
    },
    after: (stream, sequence) => events.filter((event) => event.stream === stream && event.sequence > sequence),
  };
}
