// A call that waits for its answer, its timeout or its caller's abort. It is one object for all of these, because every message
// makes one: a closure for each would cost more than the message.
import type { SentRequest } from '../../protocol/server-view.ts';
import type { JsonObject, RequestId, ResponseMessage } from '../../protocol/message.ts';
import { isError } from '../../protocol/message.ts';
import { RawObject } from '../../protocol/raw/raw-object.ts';
import { RawText } from '../../protocol/raw/raw-text.ts';
import { DeadlineItem } from '../../shared/deadline-list.ts';
import type { Cancellation } from '../../shared/cancellation.ts';
import { ProtocolError } from '../../shared/errors.ts';
import type { WireCall } from '../dialect/speak/server-dialect.ts';

/** Handles the events of a call that ends without an answer. */
export interface PendingCallOwner {
  onTimeout(pending: PendingCall): void;
  onAbort(pending: PendingCall): void;
  /** The call was paused or resumed. */
  onPause(pending: PendingCall): void;
}

export class PendingCall extends DeadlineItem implements SentRequest {
  readonly id: RequestId;
  readonly call: WireCall;
  /** The call's own stream, on HTTP. */
  readonly stream: Cancellation | undefined;
  /** The deadline that signs of life do not extend. */
  until = Infinity;
  /** How many messages the server had sent before this call. */
  heardBefore = 0;
  /** The time limit that has passed when the alarm rings. */
  limitMs = 0;
  resolve!: (result: unknown) => void;
  reject!: (reason: Error) => void;
  owner: PendingCallOwner | undefined;
  /** The number of open questions. */
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

  /** Called when the caller aborts. */
  handleEvent(): void {
    this.owner?.onAbort(this);
  }

  /** Synchronous: another promise would cost more than reading the result. */
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
