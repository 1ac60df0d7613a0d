// One handshake client over HTTP: its conversation, its open streams, and the messages that wait while no stream is
// open.
// 1. Each message is written to exactly one stream: that of its request, else the newest open GET.
// 2. Messages that belong to no request wait, bounded, for the next GET or poll.
// 3. After closing, no HTTP answer of the session stays open.
import { toErrorMessage } from '../../../kernel/message.ts';
import type { Message, RequestId } from '../../../kernel/message.ts';
import type { ClientConnection } from '../../../kernel/exchange.ts';
import { anonymousPrincipal } from '../../../kernel/base/anonymous.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { writeMessage } from '../../wire/json-rpc.ts';
import { Conversation } from '../../eras/serve/conversation.ts';
import type { SettingChange } from '../../eras/serve/conversation.ts';
import type { ServeContext, EventStore } from '../../eras/serve/serve-context.ts';
import { plainError } from '../../eras/plain-error.ts';
import { comeBackMs } from '../drain.ts';
import type { SseResponse } from '../http/sse-response.ts';
import { openEvents } from './own-events.ts';
import {
  createMemoryEventStore,
  LOST_STREAM,
  SessionStream,
  fromEventId,
  requestIdOf,
  toEventId,
  toPostStreamName,
} from './session-stream.ts';
import { OutgoingQueue } from './outgoing-queue.ts';

interface HttpSessionOptions {
  /** The principal that opened the session, where callers are identified; nobody else may use it. */
  owner?: string | undefined;
  from?: ClientConnection | undefined;
  /** Default: a random one. */
  id?: string | undefined;
  /** The client asked to end the session. */
  onExit(session: HttpSession): void;
  /** The session is over and must not be restored. */
  onEnd?(session: HttpSession): void;
  onSetting?(change: SettingChange, session: HttpSession): void;
}

/** How many streams of a kind a client may still resume. */
const MAX_STREAMS = 64;

export class HttpSession {
  readonly id: string;
  readonly conversation: Conversation;
  /** How the client connected with its latest request. */
  readonly from: ClientConnection;
  readonly owner: string | undefined;
  lastSeen: number;
  isUsed = false;
  readonly #context: ServeContext;
  readonly #options: HttpSessionOptions;
  /** Distinguishes this process's streams from those of an earlier one. */
  readonly #streams = randomId().slice(0, 6);
  readonly #store: EventStore;
  readonly #dropEvents: () => void;
  readonly #waiting: OutgoingQueue;
  #posts = new Map<string, SessionStream>();
  /** One per GET, oldest first. */
  #gets = new Map<string, SessionStream>();
  #nextStream = 0;
  #poll: (() => void) | undefined;

  constructor(context: ServeContext, options: HttpSessionOptions) {
    const { owner, id = randomId() } = options;
    this.#context = context;
    this.#options = options;
    this.id = id;
    this.owner = owner;
    this.from = { ...(options.from ?? { transport: 'http' }), session: id };
    this.lastSeen = ticksOf(context.clock);
    const holder = `session:${owner ?? id}`;
    const kept = context.eventStore ? undefined : createMemoryEventStore(context.limits, holder);
    this.#store = kept ?? openEvents(context);
    this.#dropEvents = () => kept?.clear();
    this.#waiting = new OutgoingQueue(context, holder);
    this.conversation = new Conversation(context, owner ?? anonymousPrincipal('session', id), this, {
      onExit: () => options.onExit(this),
      from: this.from,
      onSetting: (change) => options.onSetting?.(change, this),
    });
  }

  /**
   * Whether a request or a stream is open: then the session is not idle, however long it is silent. A call that waits
   * for an answer of a disconnected client does not count, because it would wait for ever.
   */
  get isBusy(): boolean {
    if (this.isListening) return true;
    return this.conversation.inFlight > 0 && (!this.conversation.isAsking || this.#isAnswering());
  }

  get isListening(): boolean {
    return this.#poll !== undefined || this.#listening() !== undefined;
  }

  /** Sends a message that belongs to no request, or whose own stream is gone. */
  send(message: Message): void {
    const text = writeMessage(message);
    const stream = this.#listening();
    if (stream) return stream.write(text);
    this.#waiting.push(text);
    this.#poll?.();
  }

  /** Opens the stream for a POST's answer. `request` is the id of the request that it answers. */
  openPost(request: RequestId | null): SessionStream {
    return this.#open(toPostStreamName(request), this.#posts, (stream) => stream.isFinished);
  }

  /** Whether the stream has ended and holds no event after this id. */
  hasNothingAfter(lastEventId: string): boolean {
    const last = fromEventId(lastEventId);
    return (
      last !== undefined &&
      (last.stream === LOST_STREAM || this.#posts.get(last.stream)?.isOverAfter(last.sequence) === true)
    );
  }

  /** Serves a GET: resumes the stream that the client names, else sends the messages that belong to no request. */
  async listen(carrier: SseResponse, lastEventId: string | undefined): Promise<void> {
    const last = lastEventId === undefined ? undefined : fromEventId(lastEventId);
    const post = last && this.#posts.get(last.stream);
    const primes = this.conversation.dialect?.primesStreams ?? false;
    if (post) return void (await post.resume(carrier, { after: last.sequence, primes }));
    const known = last && this.#gets.get(last.stream);
    if (last && !known && this.#isOfEarlierProcess(last.stream)) return tellLost(carrier, last.stream);
    const stream = known ?? this.#open('g', this.#gets, (stream) => !stream.isCarried);
    if (!known) stream.carry(carrier);
    else if (!(await stream.resume(carrier, { after: last.sequence, primes }))) return;
    for (const text of this.#waiting.take()) stream.write(text);
  }

  /**
   * Serves a long poll: calls back with the waiting messages, or with none after a while. Returns a function that
   * cancels it.
   */
  poll(done: (texts: string[]) => void): () => void {
    if (this.#waiting.size > 0) {
      done(this.#waiting.take());
      return () => {};
    }
    const settle = (): void => {
      stop();
      done(this.#waiting.take());
    };
    const stopTimer = this.#context.clock.after(this.#context.limits.pollMs, settle);
    const stop = (): void => {
      stopTimer();
      if (this.#poll === settle) this.#poll = undefined;
    };
    this.#poll?.(); // only one poll at a time: an earlier one is answered with nothing
    this.#poll = settle;
    return stop;
  }

  /** Ends the streams and the poll of a client that only listens. It opens them again after a while. */
  sendAway(): void {
    if (this.conversation.inFlight > 0) return;
    const canPrime = this.conversation.dialect?.primesStreams ?? false;
    for (const stream of this.#gets.values()) {
      if (stream.isCarried && canPrime) stream.prime(comeBackMs());
      stream.release();
    }
    this.#poll?.();
  }

  end(): void {
    this.#options.onEnd?.(this);
    this.#close(new GatewayError('SESSION_NOT_FOUND'));
  }

  close(): void {
    this.#close(new GatewayError('GATEWAY_STOPPED'));
  }

  #close(reason: GatewayError): void {
    this.conversation.close(reason);
    for (const stream of [...this.#gets.values(), ...this.#posts.values()]) stream.release();
    this.#gets.clear();
    this.#posts.clear();
    this.#poll?.();
    this.#dropEvents();
    this.#waiting.take();
  }

  #isAnswering(): boolean {
    for (const stream of this.#posts.values()) if (stream.isCarried) return true;
    return false;
  }

  #listening(): SessionStream | undefined {
    let newest: SessionStream | undefined;
    for (const stream of this.#gets.values()) if (stream.isCarried) newest = stream;
    return newest;
  }

  /** Opens a stream, and drops the oldest finished one when there are too many. */
  #open(kind: string, streams: Map<string, SessionStream>, isOver: (stream: SessionStream) => boolean): SessionStream {
    if (streams.size >= MAX_STREAMS) {
      const oldest = [...streams.values()].find(isOver);
      if (oldest) streams.delete(oldest.name);
    }
    const stream = new SessionStream(`${kind}.${this.#streams}${this.#nextStream++}`, this.#store);
    streams.set(stream.name, stream);
    return stream;
  }

  #isOfEarlierProcess(stream: string): boolean {
    return requestIdOf(stream) !== undefined && !stream.includes(`.${this.#streams}`);
  }
}

/** Tells the client that its request was in flight when an earlier process ended. */
function tellLost(carrier: SseResponse, stream: string): void {
  const error = plainError(new GatewayError('GATEWAY_STOPPED'));
  carrier.write({
    event: 'message',
    id: toEventId(LOST_STREAM, 0),
    data: writeMessage(toErrorMessage(requestIdOf(stream)!, error)),
  });
  carrier.end();
}
