// A call that waits for its answer. It is one object for all that can end it, its time and its caller among them: made for every
// message, closures for each of these would outweigh the message.
import type { SentRequest } from '../../protocol/server-view.ts';
import type { JsonObject, RequestId, ResponseMessage } from '../../protocol/message.ts';
import { isError } from '../../protocol/message.ts';
import { RawObject } from '../../protocol/raw/raw-object.ts';
import { RawText } from '../../protocol/raw/raw-text.ts';
import { DeadlineItem } from '../../shared/deadline-list.ts';
import type { Cancellation } from '../../shared/cancellation.ts';
import { ProtocolError } from '../../shared/errors.ts';
import type { WireCall } from '../dialect/speak/server-dialect.ts';

/** Who is told why a call ends without an answer. */
export interface PendingCallOwner {
  onTimeout(pending: PendingCall): void;
  onAbort(pending: PendingCall): void;
  /** Its clock is to be stopped, or to start again. */
  onPause(pending: PendingCall): void;
}

export class PendingCall extends DeadlineItem implements SentRequest {
  readonly id: RequestId;
  readonly call: WireCall;
  /** Of its own, on HTTP. */
  readonly stream: Cancellation | undefined;
  /** When it has to have ended, whatever the server says meanwhile. */
  until = Infinity;
  /** How many messages the server had sent when it went out. */
  heardBefore = 0;
  /** What it has taken when it rings. */
  limitMs = 0;
  resolve!: (result: unknown) => void;
  reject!: (reason: Error) => void;
  owner: PendingCallOwner | undefined;
  /** Open questions that it waits for. */
  #pauses = 0;

  constructor(id: RequestId, call: WireCall, stream?: Cancellation) {
    super();
    this.id = id;
    this.call = call;
    this.stream = stream;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  pause(): void {
    if (++this.#pauses === 1) this.owner?.onPause(this);
  }

  resume(): void {
    if (--this.#pauses === 0) this.owner?.onPause(this);
  }

  ring(): void {
    this.owner?.onTimeout(this);
  }

  /** Its caller has given up. */
  handleEvent(): void {
    this.owner?.onAbort(this);
  }

  /** Read here and now: another promise for it would cost more than the reading. */
  settle(response: ResponseMessage, sent?: string): void {
    const { call } = this;
    call.tracker?.onAnswered('result' in response ? response.result : undefined);
    try {
      if (isError(response)) throw toError(response.error);
      const taken = this.#take(response.result, sent);
      this.resolve(call.read ? call.read(taken) : taken);
    } catch (thrown) {
      this.reject(thrown as Error);
    }
  }

  #take(result: unknown, sent: string | undefined): unknown {
    const { takesRaw } = this.call;
    if (sent !== undefined && takesRaw === 'all') return new RawText(result as JsonObject, sent);
    return !takesRaw && result instanceof RawObject ? result.parse() : result;
  }
}

function toError({ code, message, data }: { code: number; message: string; data?: unknown }): ProtocolError {
  return new ProtocolError(code, message, data);
}
