// A request to a server from its writing to its answer: sent once, with one id. To send the same call again, `again` makes another one of the
// same data. It is one object, because every message makes one: a closure for each way to write, read or end it would cost more than the
// message. The wire gives it an id and waits with it; a dialect extends it by how it is written and how what comes back for it is read.
import type { Progress } from '../../../kernel/exchange.ts';
import { isError, toNotification } from '../../../kernel/message.ts';
import type { JsonObject, NotificationMessage, RequestId, ResponseMessage } from '../../../kernel/message.ts';
import type { OutgoingParams } from '../../../kernel/raw/encoded-params.ts';
import { keepNumbers } from '../../../kernel/raw/exact-numbers.ts';
import { RawObject, RawText } from '../../../kernel/raw/raw-object.ts';
import type { OutgoingCall, RequestTracker, SentRequest } from '../../../kernel/server-view.ts';
import type { Abortable, Cancellation } from '../../../kernel/base/cancellation.ts';
import { DeadlineItem } from '../../../kernel/base/clock.ts';
import { toServerError } from '../../../kernel/base/errors.ts';
import type { Remedy } from './remedy.ts';

/** What a request does while it waits. */
interface RequestOwner {
  onTimeout(request: WireRequest): void;
  /** Its caller has aborted it. */
  onAbort(request: WireRequest): void;
  /** It was paused or resumed. */
  onPause(request: WireRequest): void;
}

export abstract class WireRequest extends DeadlineItem implements SentRequest {
  readonly call: OutgoingCall;
  /** What may be put right before it is sent again. */
  readonly remedy: Remedy | undefined;
  /** As the dialect calls it. */
  method: string;
  signal: Abortable | undefined;
  headers: Record<string, string> | undefined;
  /** Closing the request's own stream, if it has one, cancels it. */
  cancelByStream = false;
  /** Called with a result that arrives after the call was cancelled. */
  onLate: ((result: unknown) => void) | undefined;
  /** Whether the result may be a RawObject: if large, or always. */
  takesRaw: 'large' | 'all' | undefined;
  /** The answer has no end, so it has no timeout. */
  endless = false;
  /** The server's result was read, so a failure after that is not about this request. */
  hasResult = false;

  id = 0;
  /** Whether the server still works on it; made when it is sent. */
  tracker: RequestTracker | undefined;
  /** Its own stream, on HTTP. */
  stream: Cancellation | undefined;
  owner: RequestOwner | undefined;
  resolve!: (result: unknown) => void;
  reject!: (reason: Error) => void;
  /** The deadline that signs of life do not extend. */
  until = Infinity;
  /** How many messages the server had sent before this request. */
  heardBefore = 0;
  /** The time limit that has passed when the alarm rings. */
  limitMs = 0;
  /** Whether that is the limit of the whole call. */
  isTotal = false;
  /** The number of open questions. */
  pauses = 0;

  constructor(call: OutgoingCall, remedy?: Remedy) {
    super();
    this.call = call;
    this.remedy = remedy;
    this.method = call.method;
    this.signal = call.signal;
  }

  /** The same request, to be sent once more. */
  abstract again(): WireRequest;

  get mayRepeat(): boolean {
    return this.remedy !== undefined;
  }

  /** Resolves with whether the same request may succeed now. */
  async putRight(thrown: unknown, earlier: readonly unknown[]): Promise<boolean> {
    return this.remedy !== undefined && this.remedy(thrown, earlier);
  }

  /** The params; they may have to carry the id as the progress token. */
  toParams(_id: number): OutgoingParams | undefined {
    return this.call.params;
  }

  /** Converts the result; if it throws, the call fails. */
  read(result: unknown): unknown {
    return result;
  }

  onProgress(progress: Progress): void {
    this.call.onProgress?.(progress);
  }

  onNotify(notification: NotificationMessage): void {
    this.call.onNotify?.(notification);
  }

  /** The notification that cancels this request. Undefined where it would do harm. */
  cancelNotice(requestId: RequestId, said: JsonObject): NotificationMessage | undefined {
    return toNotification('notifications/cancelled', { requestId, ...said });
  }

  pause(): void {
    if (++this.pauses === 1) this.owner?.onPause(this);
  }

  resume(): void {
    if (--this.pauses === 0) this.owner?.onPause(this);
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
    this.tracker?.onAnswered('result' in response ? response.result : undefined);
    try {
      if (isError(response)) throw toServerError(response.error);
      this.resolve(this.read(this.#take(response.result, sent)));
    } catch (thrown) {
      this.reject(thrown as Error);
    }
  }

  #take(result: unknown, sent: string | undefined): unknown {
    if (sent !== undefined) {
      return this.takesRaw === 'all' ? new RawText(result as JsonObject, sent) : keepNumbers(result, sent);
    }
    return !this.takesRaw && result instanceof RawObject ? result.parse() : result;
  }
}

/** What is special about a request that no dialect has a class for. */
export type WireForm = Partial<
  Pick<
    WireRequest,
    'method' | 'headers' | 'cancelByStream' | 'cancelNotice' | 'toParams' | 'onLate' | 'takesRaw' | 'endless'
  >
>;

export function toWireRequest(call: OutgoingCall, form?: WireForm, remedy?: Remedy): WireRequest {
  return new PlainRequest(call, form, remedy);
}

class PlainRequest extends WireRequest {
  readonly #form: WireForm | undefined;

  constructor(call: OutgoingCall, form: WireForm | undefined, remedy: Remedy | undefined) {
    super(call, remedy);
    this.#form = form;
    Object.assign(this, form);
  }

  override again(): WireRequest {
    return new PlainRequest(this.call, this.#form, this.remedy);
  }
}
