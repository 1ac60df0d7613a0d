// A handshake client over HTTP: its conversation, the streams it listens on, and what waits for it while it listens on none.
// 1. Each message is written to exactly one stream.
// 2. What belongs to no request waits, bounded, for the next GET or poll; the oldest is dropped and counted.
import type { Message } from '../../protocol/message.ts';
import { randomId } from '../../shared/ids.ts';
import { writeMessage } from '../codec/json-rpc.ts';
import { Conversation } from '../dialect/conversation.ts';
import type { Front } from '../dialect/front.ts';
import { createMemoryEvents } from './event-store.ts';
import type { EventStore } from './event-store.ts';
import { SessionStream, fromEventId } from './session-stream.ts';
import type { SseResponse } from './sse-response.ts';

/** How many answered POSTs a client may still come back for. */
const MAX_POST_STREAMS = 64;

export class Session {
  readonly id: string = randomId();
  readonly conversation: Conversation;
  /** Who opened it, where callers are identified: nobody else may use it. */
  readonly owner: string | undefined;
  lastSeen: number;
  readonly #front: Front;
  readonly #store: EventStore;
  readonly #general: SessionStream;
  #posts = new Map<string, SessionStream>();
  #nextPost = 0;
  #waiting: string[] = [];
  #poll: (() => void) | undefined;

  constructor(front: Front, owner: string | undefined, onExit: (session: Session) => void) {
    this.#front = front;
    this.owner = owner;
    this.lastSeen = front.clock.now();
    this.#store = createMemoryEvents(front.limits);
    this.#general = new SessionStream('g', this.#store);
    const principal = owner ?? `session:${this.id}`;
    this.conversation = new Conversation(front, principal, this, { onExit: () => onExit(this) });
  }

  /** Tells the client something that belongs to no request, or whose own stream is gone. */
  send(message: Message): void {
    const text = writeMessage(message);
    if (this.#general.isCarried && this.#general.write(text)) return;
    this.#waiting.push(text);
    if (this.#waiting.length > this.#front.limits.maxQueued) {
      this.#waiting.shift();
      this.#front.log.warn({ limit: 'maxQueued' }, 'message.dropped');
    }
    this.#poll?.();
  }

  /** The stream of one POST's answer. */
  openPost(): SessionStream {
    const stream = new SessionStream(`p${this.#nextPost++}`, this.#store);
    this.#posts.set(stream.name, stream);
    if (this.#posts.size > MAX_POST_STREAMS) this.#posts.delete(this.#posts.keys().next().value!);
    return stream;
  }

  /** A GET: goes on with the stream that the client names, else with what belongs to no request. */
  async listen(carrier: SseResponse, lastEventId: string | undefined): Promise<void> {
    const last = lastEventId === undefined ? undefined : fromEventId(lastEventId);
    const post = last && this.#posts.get(last.stream);
    if (post) return post.resume(carrier, last.sequence);
    if (last?.stream === 'g') await this.#general.resume(carrier, last.sequence);
    else this.#general.carry(carrier);
    for (const text of this.#waiting.splice(0)) this.#general.write(text);
  }

  /** A long poll: calls back with what waits, or with nothing after a while. Returns the way to call it off. */
  poll(done: (texts: string[]) => void): () => void {
    if (this.#waiting.length > 0) {
      done(this.#waiting.splice(0));
      return () => {};
    }
    const settle = (): void => {
      stop();
      done(this.#waiting.splice(0));
    };
    const stopTimer = this.#front.clock.after(this.#front.limits.pollMs, settle);
    const stop = (): void => {
      stopTimer();
      if (this.#poll === settle) this.#poll = undefined;
    };
    this.#poll = settle;
    return stop;
  }

  close(): void {
    this.conversation.close();
    this.#general.release();
    for (const stream of this.#posts.values()) stream.release();
    this.#posts.clear();
    this.#poll?.();
  }
}
