// The answer to a POST: plain JSON if it comes soon and alone, otherwise an event stream. The stream opens when a message
// precedes the answer, or after a silence: proxies drop silent answers, and a client needs an event id to resume. In the handshake era the stream belongs to a session and outlives the HTTP answer.
import type { Message, RequestId } from '../../../protocol/message.ts';
import { isObject, isRequest } from '../../../protocol/message.ts';
import { UNCOUNTED_BYTES } from '../../../shared/held-bytes.ts';
import { holdUnsent, SseResponse } from './sse-response.ts';
import { DeadlineItem } from '../../../shared/clock.ts';
import type { DeadlineList } from '../../../shared/clock.ts';
import type { HttpResponse } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import { byteLengthOf, encode, writeEncoded, writeMessage } from '../../codec/json-rpc.ts';
import type { EncodedMessage, ParsedInput } from '../../codec/json-rpc.ts';
import type { ServeContext } from '../../dialect/serve/serve-context.ts';
import type { Outlet } from '../../dialect/serve/served-exchange.ts';
import type { AcceptedTypes } from './read-request.ts';
import type { SessionStream } from '../session/session-stream.ts';
import type { HttpSession } from '../session/http-session.ts';
import { replaceUnwritable } from '../unusual-messages.ts';

export class PostOutlet extends DeadlineItem implements Outlet {
  ended = false;
  /**
   * Whether it answers the request that opens a session. Only that answer names the session: the id is long, and the
   * client knows it from then on.
   */
  isOpening = false;
  /** What is answered; a stream is named after it. */
  incoming: ParsedInput | undefined;
  readonly #context: ServeContext;
  readonly #response: HttpResponse;
  readonly #accepted: AcceptedTypes;
  readonly #session: HttpSession | undefined;
  #stream: SessionStream | undefined;
  #carrier: SseResponse | undefined;

  constructor(context: ServeContext, response: HttpResponse, accepted: AcceptedTypes, session?: HttpSession) {
    super();
    this.#context = context;
    this.#response = response;
    this.#accepted = accepted;
    this.#session = session;
  }

  /**
   * Call once the request is being handled: opens the stream if the answer takes too long. Pass `now` if it is known.
   */
  limitSilence(deadlines: DeadlineList, now?: number): void {
    if (this.ended || this.#carrier || !this.#accepted.stream) return;
    const { keepAliveMs, primeMs } = this.#context.limits;
    deadlines.set(this, this.#canPrime ? Math.min(primeMs, keepAliveMs) : keepAliveMs, now);
  }

  /** Called after too long a silence. */
  ring(): void {
    if (!this.ended && !this.#response.destroyed) this.#upgrade();
  }

  send(message: Message): void {
    if (this.ended) return;
    const gone = this.#response.destroyed && !this.#stream;
    if (!this.#accepted.stream || gone) return this.#session?.send(message);
    this.#upgrade();
    this.#write(writeMessage(message));
  }

  end(answer?: Message | Message[], status = 200): void {
    if (this.ended) return;
    this.ended = true;
    this.callOff();
    if (answer === undefined) return this.#endEmpty();
    const body = encodeAnswer(answer, this.#context.log);
    if (!this.#carrier && (status !== 200 || this.#accepted.json)) {
      answerJson(
        this.#response,
        status,
        body,
        this.isOpening ? this.#headers() : status === 429 ? waitOf(answer) : undefined,
      );
      if (this.#response.writableLength > UNCOUNTED_BYTES) holdUnsent(this.#response, this.#context);
      return;
    }
    this.#upgrade();
    this.#write(body);
    if (this.#stream) this.#stream.finish();
    else this.#carrier?.end();
  }

  get isOpen(): boolean {
    return this.#stream ? this.#stream.isCarried : !this.#response.destroyed;
  }

  release(retryMs: number): void {
    if (this.ended || !this.#accepted.stream || !this.#canPrime) return;
    this.#upgrade();
    this.#stream?.prime(retryMs);
    this.#stream?.release();
  }

  /** Older clients may fail on an event without data. */
  get #canPrime(): boolean {
    return this.#session?.conversation.dialect?.primesStreams ?? false;
  }

  #upgrade(): void {
    if (this.#carrier) return;
    this.callOff();
    const session = this.#session;
    this.#carrier = new SseResponse(this.#context, this.#response, this.#headers());
    if (!session) return;
    this.#stream = session.openPost(this.incoming ? requestIdIn(this.incoming) : null);
    this.#stream.carry(this.#carrier);
    if (this.#canPrime) this.#stream.prime();
  }

  /** Does not name a session that could not be opened. */
  #headers(): Record<string, string> | undefined {
    return this.#session?.conversation.dialect && { 'mcp-session-id': this.#session.id };
  }

  #write(data: EncodedMessage): void {
    if (this.#stream) this.#stream.write(data);
    else this.#carrier?.write({ event: 'message', data });
  }

  #endEmpty(): void {
    if (this.#stream) this.#stream.finish();
    else if (this.#carrier) this.#carrier.end();
    else if (!this.#response.headersSent) this.#response.writeHead(202).end();
  }
}

export function encodeAnswer(answer: Message | Message[], log: Log): EncodedMessage {
  try {
    return encode(answer);
  } catch (cause) {
    return encode(replaceUnwritable(answer, cause, log));
  }
}

export function answerJson(
  response: HttpResponse,
  status: number,
  written: EncodedMessage,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const length = byteLengthOf(written);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
  // Corked, so that headers and body leave in one write. `end` adds an empty chunk, and Node copies several chunks
  // together.
  response.cork();
  writeEncoded(response, written);
  response.uncork();
  response.end();
}

/** For what paces a client and does not read its messages, such as a proxy. */
function waitOf(answer: Message | Message[]): Record<string, string> | undefined {
  if (Array.isArray(answer) || !('error' in answer)) return undefined;
  const { data } = answer.error;
  return retryAfter(isObject(data) ? data.retryAfterMs : undefined);
}

/** In whole seconds, at least one. */
export function retryAfter(ms: unknown): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil((typeof ms === 'number' ? ms : 0) / 1000))) };
}

/** Null if it is not a request, or its id could not be read. */
export function requestIdIn(incoming: ParsedInput): RequestId | null {
  if (incoming.kind === 'refused') return incoming.id;
  return incoming.kind === 'message' && isRequest(incoming.message) ? incoming.message.id : null;
}
