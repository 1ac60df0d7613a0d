// Results of called flows that their client may not have yet. Until it has, a result stays in the store for the next call.
import type { Exchange } from '../../kernel/exchange.ts';
import { RECEIPT } from '../../kernel/interaction.ts';
import type { ReceiptRequest } from '../../kernel/interaction.ts';
import { isObject, readString } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { FLOW_ACKNOWLEDGE } from '../../kernel/methods.ts';
import type { RequestHandler } from '../../sdk/server/request-handler.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { RESULT_READ_MS } from '../../kernel/base/limits.ts';
import { isOwner, isEnded } from '../header.ts';
import type { Sessions } from '../session/sessions.ts';
import type { StartRequest } from '../session/context/requests.ts';

/** The start of a called flow. */
export interface CallStart extends StartRequest {
  /** Set if a gateway acknowledges the result. */
  receipt?: ReceiptRequest | undefined;
}

/** A gateway may never acknowledge. The oldest are forgotten first: they are offered to all callers of their principal. */
const MAX_HELD = 10_000;

/**
 * A gateway in front acknowledges a result when its own client has it. Callers that the gateway cannot tell apart after a restart share
 * their results, but not while the process lives that holds a result for one of them.
 */
export class CallReceipts {
  readonly #held = new Map<string, ReceiptRequest>();

  hold(sessionId: string, receipt: ReceiptRequest): void {
    this.#held.set(sessionId, receipt);
    const [oldest] = this.#held.keys();
    if (this.#held.size > MAX_HELD) this.#held.delete(oldest!);
  }

  /** Whether the process that holds the result still lives, and holds it for another caller. */
  isForAnother(sessionId: string, receipt: ReceiptRequest | undefined): boolean {
    const held = this.#held.get(sessionId);
    return held?.holder !== undefined && held.holder === receipt?.holder && held.caller !== receipt.caller;
  }

  methods(sessions: Sessions): Record<string, RequestHandler> {
    return { [FLOW_ACKNOWLEDGE]: (exchange) => this.acknowledge(exchange, sessions) };
  }

  async acknowledge({ params, client: { principal } }: Exchange, sessions: Sessions): Promise<JsonObject> {
    const sessionId = readString(params, 'sessionId');
    const { header } = await sessions.getState({ principal, sessionId });
    if (!isOwner(header, principal)) throw new GatewayError('FLOW_SESSION_NOT_FOUND', { sessionId });
    if (isEnded(header)) {
      await sessions.acknowledge(sessionId);
      this.#held.delete(sessionId);
    }
    return { acknowledged: isEnded(header) };
  }
}

export function withReceipt(result: JsonObject, sessionId: string): JsonObject {
  const { _meta: meta } = result;
  return { ...result, _meta: { ...(isObject(meta) && meta), [RECEIPT]: sessionId } };
}

/** Where nothing outlives the process: time for the answer to leave it. */
const LEAVE_MS = 200;
/** Above this the oldest are taken as read. */
const MAX_SENT = 2000;

interface SentResult {
  stop: () => void;
  onRead: () => unknown;
}

/**
 * Results that have left this process. Nothing tells when a client has read one: it may read late, and lose it if this process dies before
 * that. So each result stays in the store for a while, and the next process offers it to the same call. A process that lives never offers a
 * result that it has sent.
 */
export class SentResults {
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** By session, in the order in which they were sent. */
  readonly #sent = new Map<string, SentResult>();

  constructor({ clock, store }: { clock: Clock; store: { durable: boolean } }) {
    this.#clock = clock;
    this.#waitMs = store.durable ? RESULT_READ_MS : LEAVE_MS;
  }

  /** Calls `onRead` once the client has had enough time to read it. A result that is sent again has that time again. */
  add(sessionId: string, onRead: () => unknown): void {
    this.#sent.get(sessionId)?.stop();
    this.#sent.delete(sessionId);
    this.#sent.set(sessionId, { stop: this.#clock.after(this.#waitMs, () => this.#read(sessionId)), onRead });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_SENT) this.#read(oldest!);
  }

  #read(sessionId: string): void {
    const sent = this.#sent.get(sessionId);
    this.#sent.delete(sessionId);
    sent?.stop();
    sent?.onRead();
  }
}
