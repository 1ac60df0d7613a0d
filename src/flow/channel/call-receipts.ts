// Results of called flows that a gateway in front holds for its own client. The gateway acknowledges a result when its client has it; until
// then the result stays for the next call. Callers that the gateway cannot tell apart after a restart share their results, but not while the
// process lives that holds a result for one of them.
import type { Exchange } from '../../protocol/exchange.ts';
import { RECEIPT } from '../../protocol/interaction.ts';
import type { ReceiptRequest } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject, readString } from '../../protocol/message.ts';
import type { RequestHandler } from '../../server/server.ts';
import { GatewayError } from '../../shared/errors.ts';
import { isOwner, isEnded } from '../header.ts';
import type { Sessions } from '../session/sessions.ts';
import type { StartRequest } from '../session/verbs/requests.ts';

/** The start of a called flow. */
export interface CallStart extends StartRequest {
  /** Set if a gateway acknowledges the result. */
  receipt?: ReceiptRequest | undefined;
}

/** A gateway may never acknowledge. The oldest are forgotten first: they are offered to all callers of their principal. */
const MAX_HELD = 10_000;

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
    return { 'interaction.acknowledge': (exchange) => this.acknowledge(exchange, sessions) };
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
