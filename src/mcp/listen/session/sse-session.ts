// One client of HTTP+SSE: its conversation, and the one stream that carries all that is sent to it.
import type { ClientConnection } from '../../../kernel/exchange.ts';
import { anonymousPrincipal } from '../../../kernel/base/anonymous.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import { writeMessage, toEncodedText } from '../../wire/json-rpc.ts';
import type { EncodedMessage } from '../../wire/json-rpc.ts';
import { Conversation } from '../../eras/serve/conversation.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import type { Outlet } from '../../eras/serve/served-exchange.ts';
import { encodeAnswer } from '../http/http-post.ts';
import type { SseResponse } from '../http/sse-response.ts';
import type { HttpVisit } from '../http/http-visit.ts';
import { OutgoingQueue } from './outgoing-queue.ts';

export class SseSession {
  readonly id: string;
  readonly owner: string | undefined;
  readonly conversation: Conversation;
  /** How the client connected with its latest request. */
  readonly from: ClientConnection;
  readonly outlet: Outlet;
  lastSeen: number;
  isUsed = false;
  readonly #context: ServeContext;
  #stream: SseResponse | undefined;
  readonly #waiting: OutgoingQueue;

  constructor(
    context: ServeContext,
    { principal: owner, identity, request }: HttpVisit,
    onExit: (session: SseSession) => void,
  ) {
    this.#context = context;
    this.id = randomId() + (context.nodes?.mark ?? '');
    this.owner = owner;
    this.lastSeen = ticksOf(context.clock);
    this.#waiting = new OutgoingQueue(context, `session:${this.id}`);
    this.outlet = {
      send: (message) => this.#write(writeMessage(message)),
      end: (answer) => answer && this.#write(encodeAnswer(answer, context.log)),
      release: () => {},
    };
    const address = addressOf(request);
    this.from = { transport: 'sse', session: this.id, headers: request.headers, identity, address };
    const principal = owner ?? anonymousPrincipal('session', this.id);
    this.conversation = new Conversation(context, principal, this.outlet, {
      onExit: () => onExit(this),
      from: this.from,
    });
  }

  get isBusy(): boolean {
    return this.#stream !== undefined || this.conversation.inFlight > 0;
  }

  isCarriedBy(stream: SseResponse): boolean {
    return this.#stream === stream;
  }

  /** A client that reconnects has given up its old stream. */
  attach(stream: SseResponse): void {
    const former = this.#stream;
    this.#stream = stream;
    former?.end();
    for (const text of this.#waiting.take()) stream.write({ event: 'message', data: text });
  }

  /** Nothing to store: the stream ends with the process. */
  end(): void {
    this.#close();
  }

  close(): void {
    this.#close(new GatewayError('GATEWAY_STOPPED'));
  }

  #close(reason?: GatewayError): void {
    this.conversation.close(reason);
    this.#stream?.end();
  }

  #write(data: EncodedMessage): void {
    this.lastSeen = ticksOf(this.#context.clock);
    if (this.#stream) this.#stream.write({ event: 'message', data });
    else this.#waiting.push(toEncodedText(data));
  }
}
