// A POST over HTTP: its body, which content types its client accepts, and its answer.
import { isObject, isRequest } from '../../../kernel/message.ts';
import type { Message, RequestId } from '../../../kernel/message.ts';
import { UNCOUNTED_BYTES, ARRIVING_COPIES, HeldShare } from '../../../kernel/base/held-bytes.ts';
import { DeadlineItem } from '../../../kernel/base/clock.ts';
import type { DeadlineList } from '../../../kernel/base/clock.ts';
import type { HttpResponse, HttpRequest } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { VIA_HEADER, boundVia } from '../../../kernel/base/via.ts';
import { byteLengthOf, encode, writeEncoded, writeMessage } from '../../wire/json-rpc.ts';
import type { EncodedMessage, ParsedInput } from '../../wire/json-rpc.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import type { Outlet } from '../../eras/serve/served-exchange.ts';
import { readInTurns } from '../../wire/paced-reader.ts';
import type { SessionStream } from '../session/session-stream.ts';
import type { HttpSession } from '../session/http-session.ts';
import { replaceUnwritable } from '../unusual-messages.ts';
import { holdUnsent, SseResponse } from './sse-response.ts';

/** What a body that is being read counts against. */
interface BodyBudget {
  response: HttpResponse;
  owner: string;
  /** `limits.maxHeldBytes`. */
  maxBytes: number;
}

/**
 * Calls back with the body as text or with the error; never, if the client hangs up before. The limit applies to the announced length first,
 * then to what arrives.
 */
export function readRequestBody(
  request: HttpRequest,
  maxBytes: number,
  read: (text: string | GatewayError) => void,
  budget?: () => BodyBudget,
): void {
  const done = request.headers[VIA_HEADER] === undefined ? read : boundVia(read);
  const tooLarge = () => new GatewayError('MESSAGE_TOO_LARGE', { limit: maxBytes, name: 'maxRequestBytes' });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return done(tooLarge());
  if (request.readableEnded || request.bodyUsed) return done(alreadyRead(request));
  const chunks: Buffer[] = [];
  let size = 0;
  let holding: HeldShare | undefined;
  const refuse = (error: GatewayError): void => {
    chunks.length = 0;
    request.removeAllListeners('data').removeAllListeners('end').resume();
    done(error);
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return refuse(tooLarge());
    chunks.push(chunk);
    if (!budget || size <= UNCOUNTED_BYTES) return;
    holding ??= holdBody(request, budget(), refuse);
    holding.set(size * ARRIVING_COPIES);
    readInTurns(request, size, chunk.length);
  });
  request.on('end', () => {
    holding?.keep();
    const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8');
    chunks.length = 0; // this closure lives as long as the call
    holding?.set(size);
    done(text);
  });
}

/** The body counts until the answer has ended: the call has it meanwhile. Only while it arrives can it be refused. */
function holdBody(
  request: HttpRequest,
  { response, owner, maxBytes }: BodyBudget,
  refuse: (error: GatewayError) => void,
): HeldShare {
  const cut = (): void => {
    response.once('finish', () => request.destroy()); // the rest is not wanted
    refuse(new GatewayError('TOO_MANY', { what: 'bytes at once', limit: 'maxHeldBytes' }));
  };
  const holding = new HeldShare({ owner, maxBytes, cut });
  response.once('close', () => holding.release());
  return holding;
}

/** A body parser of the surrounding app may have consumed the stream; it leaves the result as `body`. */
function alreadyRead({ body }: HttpRequest & { body?: unknown }): string | GatewayError {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  if (typeof body === 'object' && body !== null) return JSON.stringify(body);
  return new GatewayError('BODY_READ_BEFORE');
}

export interface AcceptedTypes {
  json: boolean;
  stream: boolean;
}

const BOTH: AcceptedTypes = { json: true, stream: true };

/** Without the header, a client gets plain JSON. */
export function readAccept(accept: string | undefined): AcceptedTypes {
  if (accept === undefined) return { json: true, stream: false };
  if (accept === 'application/json, text/event-stream') return BOTH;
  const types = accept.split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  const any = types.includes('*/*');
  return {
    json: any || types.includes('application/json') || types.includes('application/*'),
    stream: any || types.includes('text/event-stream') || types.includes('text/*'),
  };
}

/**
 * The answer to a POST: plain JSON if it comes soon and alone, otherwise an event stream. The stream opens when a message precedes the answer, or
 * after a silence: proxies drop silent answers, and a client needs an event id to resume. In the handshake era the stream belongs to a session and
 * outlives the HTTP answer.
 */
export class PostOutlet extends DeadlineItem implements Outlet {
  ended = false;
  /**
   * Whether it answers the request that opens a session. Only that answer names the session: the id is long, and the
   * client knows it from then on.
   */
  isOpening = false;
  /** What is answered; a stream is named after it. */
  incoming: ParsedInput | undefined;
  arrival: number | undefined;
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
