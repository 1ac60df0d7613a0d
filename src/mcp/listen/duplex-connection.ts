// One client on a transport where both sides share one channel: stdio, WebSocket or an SDK Transport. The client may
// speak either era; each message is classified by itself until `initialize` decides.
import { callerOfClient } from '../../kernel/exchange.ts';
import type { ClientConnection } from '../../kernel/exchange.ts';
import { hasMeta, isNotification, isRequest, toErrorMessage } from '../../kernel/message.ts';
import type { Message, RequestId, RequestMessage } from '../../kernel/message.ts';
import { REQUEST_CANCELLED } from '../../kernel/methods.ts';
import { CLIENT_GONE } from '../../kernel/base/cancellation.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { ARRIVING_COPIES, HeldShare, UNCOUNTED_BYTES } from '../../kernel/base/held-bytes.ts';
import type { HeldShareOptions } from '../../kernel/base/held-bytes.ts';
import { ShortLivedMap } from '../../kernel/containers/short-lived-map.ts';
import { runUnlessVisited } from '../../kernel/base/via.ts';
import { findId } from '../wire/json-shape.ts';
import { toParsedInput } from '../wire/json-rpc.ts';
import type { ParsedInput } from '../wire/json-rpc.ts';
import { RequestReader } from '../wire/fast-messages.ts';
import { Conversation, cancelOf } from '../eras/serve/conversation.ts';
import { isStatelessMessage, openingOf } from '../eras/serve/detect.ts';
import type { ServeContext } from '../eras/serve/serve-context.ts';
import type { Outlet } from '../eras/serve/served-exchange.ts';
import { plainError } from '../eras/plain-error.ts';
import { RECURRING, readMessageVia } from '../eras/meta.ts';
import { receiveStatelessNotification, serveStateless } from '../eras/stateless/serve-stateless.ts';
import type { RunningRequest } from '../eras/serve/running-request.ts';
import { receiveBatchOrRefuse, answerRefusal, replaceUnwritable } from './unusual-messages.ts';

interface DuplexChannel {
  /** The principal that owns what the connection creates, for each era. */
  principals: { handshake: string; stateless: string };
  /** How the client connected. */
  from: ClientConnection;
  send(message: Message | Message[]): void;
  /** The client asked to close the connection. `status` is the exit status of a process. */
  exit(status: number): void;
}

export class DuplexConnection {
  readonly #context: ServeContext;
  readonly #reader: RequestReader;
  readonly #channel: DuplexChannel;
  readonly #conversation: Conversation;
  readonly #outlet: Outlet;
  readonly #held: HeldMessages;
  #running = new ShortLivedMap<RequestId, RunningRequest>();
  #onIdle: (() => void) | undefined;
  #closed = false;
  /** The first message has arrived. */
  #isHeard = false;
  #ready: Promise<void> | undefined;
  /** Messages that arrived before the target knew what it offers. */
  #early: { incoming: ParsedInput; outlet: Outlet }[] | undefined;

  constructor(context: ServeContext, channel: DuplexChannel) {
    this.#context = context;
    this.#reader = new RequestReader(context.limits, RECURRING);
    this.#channel = channel;
    this.#outlet = {
      send: (message) => channel.send(message),
      end: (answer) => {
        if (answer !== undefined) this.#send(answer);
        if (this.#onIdle && !this.isBusy) this.#onIdle();
      },
      release: () => {},
    };
    const owner = callerOfClient({ principal: channel.principals.stateless, connection: channel.from });
    this.#held = new HeldMessages({ owner, maxBytes: context.limits.maxHeldBytes });
    this.#conversation = new Conversation(context, channel.principals.handshake, this.#outlet, {
      onExit: (status) => channel.exit(status),
      from: channel.from,
    });
  }

  /** Whether a request is still unanswered. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#conversation.inFlight > 0;
  }

  receive(text: string): void {
    if (this.#closed) return;
    const outlet = text.length > UNCOUNTED_BYTES ? this.#held.hold(text.length, this.#outlet) : this.#outlet;
    if (outlet) this.#enter(this.#reader.read(text), outlet);
    else this.refuse(new GatewayError('TOO_MANY', { what: 'bytes at once', limit: 'maxHeldBytes' }), findId(text).id);
  }

  receiveValue(value: unknown): void {
    this.#enter(toParsedInput(value, this.#context.limits), this.#outlet);
  }

  /** Answers input that is not a message, such as a line that is too long. */
  refuse(error: GatewayError, id: RequestId | null = null): void {
    answerRefusal({ kind: 'refused', id, error }, this.#outlet);
  }

  /**
   * The input has ended: resolves when every request in flight is answered. The client can no longer answer questions.
   */
  async drain(): Promise<void> {
    await this.#ready;
    this.#conversation.endInput();
    // Listen streams never end on their own.
    for (const id of this.#running.keys()) if (this.#running.get(id)?.endless) this.#running.delete(id)?.cancel();
    if (!this.isBusy) return;
    await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** What is in flight, without streams that only listen. */
  *calls(): Iterable<object> {
    for (const running of this.#running.values()) if (!running.endless) yield running;
    yield* this.#conversation.calls;
  }

  /** With a reason, requests in flight are answered with it. */
  close(reason?: GatewayError): void {
    this.#closed = true;
    this.#conversation.close(reason);
    for (const id of this.#running.keys()) {
      const running = this.#running.get(id);
      if (reason) this.#outlet.end(toErrorMessage(id, plainError(reason)));
      running?.cancel(CLIENT_GONE);
    }
    this.#running.clear();
    this.#held.releaseAll();
    this.#onIdle?.();
  }

  #enter(incoming: ParsedInput, outlet: Outlet): void {
    const message = incoming.kind === 'message' && hasMeta(incoming.message) ? incoming.message : undefined;
    const { id, limits } = this.#context;
    const via = message && id !== undefined ? readMessageVia(message) : undefined;
    if (!via) return this.#take(incoming, outlet);
    try {
      const isStarted = this.#channel.from.transport === 'stdio';
      runUnlessVisited(via, { id, maxHops: limits.maxHops, isStarted }, () => this.#take(incoming, outlet));
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      refuseMessage(message, outlet, thrown);
    }
  }

  #take(incoming: ParsedInput, outlet: Outlet): void {
    if (this.#closed) return;
    if (!this.#isHeard) this.#awaitTarget(incoming);
    const message = incoming.kind === 'message' ? incoming.message : undefined;
    if (this.#early) {
      if (this.#early.length < this.#context.limits.maxInFlight) return void this.#early.push({ incoming, outlet });
      if (!message || !isRequest(message)) this.#context.log.warn({ limit: 'maxInFlight' }, 'message.dropped');
      return refuseMessage(message, outlet, tooManyInFlight());
    }
    if (incoming.kind !== 'message') return receiveBatchOrRefuse(this.#conversation, incoming, outlet);
    this.#receive(incoming.message, outlet);
  }

  /** The first message tells the target which connection the client will need. */
  #awaitTarget(first: ParsedInput): void {
    this.#isHeard = true;
    const ready = this.#context.target.ready?.(first.kind === 'message' ? openingOf(first.message) : undefined);
    if (!ready) return;
    this.#early = [];
    this.#ready = ready.then(() => {
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const { incoming, outlet } of early) this.#take(incoming, outlet);
    });
  }

  #receive(message: Message, outlet: Outlet): void {
    if (this.#needsNoSession(message)) this.#stateless(message, outlet);
    else if (isRequest(message) && this.#running.has(message.id)) refuseMessage(message, outlet, inFlight(message.id));
    else this.#conversation.receive(message, outlet);
  }

  #send(answer: Message | Message[]): void {
    try {
      this.#channel.send(answer);
    } catch (cause) {
      this.#channel.send(replaceUnwritable(answer, cause, this.#context.log));
    }
  }

  #needsNoSession(message: Message): boolean {
    if ('method' in message && message.method === REQUEST_CANCELLED && !isRequest(message)) {
      return this.#running.has(message.params?.requestId as RequestId);
    }
    return (
      this.#context.stateless && isStatelessMessage(message, { session: this.#conversation.dialect !== undefined })
    );
  }

  #stateless(message: Message, outlet: Outlet): void {
    if (isRequest(message)) return this.#serve(message, outlet);
    if (isNotification(message)) {
      if (message.method === REQUEST_CANCELLED)
        this.#running.delete(message.params?.requestId as RequestId)?.cancel(cancelOf(message));
      else receiveStatelessNotification(this.#context, message, this.#channel.principals.stateless);
    }
    outlet.end();
  }

  #serve(request: RequestMessage, shared: Outlet): void {
    if (this.#running.has(request.id)) return refuseMessage(request, shared, inFlight(request.id));
    if (this.#running.size >= this.#context.limits.maxInFlight)
      return refuseMessage(request, shared, tooManyInFlight());
    const outlet = new StatelessOutlet(shared, this.#running, request.id);
    const caller = { principal: this.#channel.principals.stateless, from: this.#channel.from };
    const running = serveStateless(this.#context, request, outlet, caller);
    if (!running || outlet.ended) return;
    outlet.running = running;
    this.#running.set(request.id, running);
  }
}

/** Only a request gets an answer. */
function refuseMessage(message: Message | undefined, outlet: Outlet, error: GatewayError): void {
  outlet.end(message && isRequest(message) ? toErrorMessage(message.id, plainError(error)) : undefined);
}

function inFlight(id: RequestId): GatewayError {
  return new GatewayError('INVALID_REQUEST', { data: `Request id ${JSON.stringify(id)} is already in flight` });
}

function tooManyInFlight(): GatewayError {
  return new GatewayError('TOO_MANY', { what: 'requests in flight', limit: 'maxInFlight' });
}

/** The answer to one stateless request on a shared channel; ending it removes the request from those in flight. */
class StatelessOutlet implements Outlet {
  /** Set even when the answer arrives before the request is registered. */
  ended = false;
  /** The registered request. The client may reuse its id after cancelling the request. */
  running: RunningRequest | undefined;
  readonly #outlet: Outlet;
  readonly #running: ShortLivedMap<RequestId, RunningRequest>;
  readonly #id: RequestId;

  constructor(outlet: Outlet, running: ShortLivedMap<RequestId, RunningRequest>, id: RequestId) {
    this.#outlet = outlet;
    this.#running = running;
    this.#id = id;
  }

  send(message: Message): void {
    if (!this.ended) this.#outlet.send(message);
  }

  end(answer?: Message | Message[]): void {
    if (this.ended) return;
    this.ended = true;
    if (this.#running.get(this.#id) === this.running) this.#running.delete(this.#id);
    this.#outlet.end(answer);
  }

  release(): void {}
}

/**
 * Counts large messages on the connection against the byte budget of the process, from their arrival to their answer, as bodies of HTTP
 * requests count (http/http-post.ts).
 */
class HeldMessages {
  readonly #options: HeldShareOptions;
  readonly #open = new Set<HeldShare>();

  constructor(options: Pick<HeldShareOptions, 'owner' | 'maxBytes'>) {
    this.#options = { ...options, cut: () => {} }; // the message is refused, and nothing else has it yet
  }

  /** The outlet, which from now on gives the room back with the answer. Undefined if there is no room for the message. */
  hold(bytes: number, outlet: Outlet): Outlet | undefined {
    const holding = new HeldShare({ ...this.#options });
    if (!holding.set(bytes * ARRIVING_COPIES)) return undefined;
    holding.keep();
    holding.set(bytes);
    this.#open.add(holding);
    return {
      send: (message) => outlet.send(message),
      end: (answer?: Message | Message[], status?: number) => {
        this.#release(holding);
        outlet.end(answer, status);
      },
      release: (retryMs) => outlet.release(retryMs),
    };
  }

  releaseAll(): void {
    for (const holding of this.#open) this.#release(holding);
  }

  #release(holding: HeldShare): void {
    this.#open.delete(holding);
    holding.release();
  }
}
