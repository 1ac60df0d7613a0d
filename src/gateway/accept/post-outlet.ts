// The answer to a POST: plain JSON as long as there is only the answer itself, an event stream from the first message
// that comes before it. In the handshake era the stream belongs to a session and outlives the HTTP answer.
import type { Message } from '../../protocol/message.ts';
import type { HttpResponse } from '../../shared/http.ts';
import { writeMessage } from '../codec/json-rpc.ts';
import type { Written } from '../codec/written.ts';
import type { Front } from '../dialect/front.ts';
import type { Outlet } from '../dialect/outlet.ts';
import { answerJson } from './answer.ts';
import type { Accepted } from './media.ts';
import type { SessionStream } from './session-stream.ts';
import type { Session } from './session.ts';
import { SseResponse } from './sse-response.ts';
import { written } from './write-answer.ts';

export class PostOutlet implements Outlet {
  ended = false;
  readonly #front: Front;
  readonly #response: HttpResponse;
  readonly #accepted: Accepted;
  readonly #session: Session | undefined;
  #stream: SessionStream | undefined;
  #carrier: SseResponse | undefined;

  constructor(front: Front, response: HttpResponse, accepted: Accepted, session?: Session) {
    this.#front = front;
    this.#response = response;
    this.#accepted = accepted;
    this.#session = session;
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
    if (answer === undefined) return this.#endEmpty();
    const body = written(answer, this.#front.log);
    if (!this.#carrier && (status !== 200 || this.#accepted.json)) {
      return answerJson(this.#response, status, body, this.#headers());
    }
    this.#upgrade();
    this.#write(body);
    if (this.#stream) this.#stream.finish();
    else this.#carrier?.end();
  }

  release(retryMs: number): void {
    if (this.ended || !this.#accepted.stream || !this.#session?.conversation.wording?.primesStreams) return;
    this.#upgrade();
    this.#stream?.prime(retryMs);
    this.#stream?.release();
  }

  #upgrade(): void {
    if (this.#carrier) return;
    const session = this.#session;
    this.#carrier = new SseResponse(this.#front, this.#response, this.#headers());
    if (!session) return;
    this.#stream = session.openPost();
    this.#stream.carry(this.#carrier);
    // Older clients may choke on an event without data.
    if (session.conversation.wording?.primesStreams) this.#stream.prime();
  }

  /** A session that could not be opened is not named. */
  #headers(): Record<string, string> | undefined {
    return this.#session?.conversation.wording && { 'mcp-session-id': this.#session.id };
  }

  #write(data: Written): void {
    if (this.#stream) this.#stream.write(data);
    else this.#carrier?.write({ event: 'message', data });
  }

  #endEmpty(): void {
    if (this.#stream) this.#stream.finish();
    else if (this.#carrier) this.#carrier.end();
    else if (!this.#response.headersSent) this.#response.writeHead(202).end();
  }
}
