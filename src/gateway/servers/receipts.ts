// Has a server keep the result of a flow until the client of this gateway has it: a result that waits here to be fetched would be lost if this
// process died. The server then offers it to the next call of the same client.
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import { RECEIPT, readReceiptRequest } from '../../kernel/interaction.ts';
import type { ReceiptRequest } from '../../kernel/interaction.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { RawObject, fieldOf } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { isAnonymous } from '../../kernel/base/anonymous.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { RESULT_READ_MS } from '../../kernel/base/limits.ts';

/** This process, among those of the same gateway. */
const HOLDER = randomId();

/** Above this the oldest are taken as read. */
const MAX_SENT = 2000;

interface ReceiptOptions {
  send: (exchange: Exchange) => Promise<ResultObject>;
  /** Acknowledges the result of a session to the server. */
  acknowledge: (sessionId: string) => Promise<unknown>;
}

/**
 * Results that have left this process. Nothing tells when a client has read one, so the server keeps each of them for a while, in case this
 * process dies. As long as it lives, the next call of the same caller shows that the caller is done with the result.
 */
export class Receipts {
  readonly #clock: Clock;
  readonly #sent = new Map<string, { caller: string; read: () => Promise<unknown> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async call(exchange: Exchange, { send, acknowledge }: ReceiptOptions): Promise<ResultObject> {
    const given = readReceiptRequest(exchange.params);
    const own = toOwnRequest(exchange, given);
    await this.#readBy(own.caller);
    const result = await send(deriveExchange(exchange, { params: withRequest(exchange, own) }));
    const meta = fieldOf(result, '_meta');
    const sessionId = isObject(meta) ? meta[RECEIPT] : undefined;
    if (typeof sessionId !== 'string' || given) return result; // a gateway in front acknowledges it
    if (!(exchange.cancellation ?? exchange.signal).aborted && exchange.isConnected !== false) {
      const onTaken = (): void => this.#add(sessionId, own.caller, acknowledge);
      if (exchange.whenTaken) exchange.whenTaken(onTaken);
      else onTaken();
    }
    return withoutReceipt(result, meta as JsonObject);
  }

  #add(sessionId: string, caller: string, acknowledge: ReceiptOptions['acknowledge']): void {
    const read = async (): Promise<unknown> => {
      stop();
      // If the server is away, it offers the result once more.
      return this.#sent.delete(sessionId) ? acknowledge(sessionId).catch(() => {}) : undefined;
    };
    const stop = this.#clock.after(RESULT_READ_MS, () => void read());
    this.#sent.set(sessionId, { caller, read });
    const [oldest] = this.#sent.values();
    if (this.#sent.size > MAX_SENT) void oldest!.read();
  }

  /** The caller goes on to something else. */
  async #readBy(caller: string): Promise<void> {
    if (this.#sent.size === 0) return;
    const theirs = [...this.#sent.values()].filter((one) => one.caller === caller);
    await Promise.all(theirs.map(({ read }) => read()));
  }
}

function withRequest({ params }: Exchange, own: ReceiptRequest): JsonObject {
  return { ...params, _meta: { ...(isObject(params._meta) && params._meta), [RECEIPT]: own } };
}

/** Clients that share a connection are one principal to the server, so callers must not be able to pretend to be others. */
function toOwnRequest({ client: { principal } }: Exchange, given: ReceiptRequest | undefined): ReceiptRequest {
  const caller = sha256(`${RECEIPT}\0${principal}\0${given?.caller ?? ''}`, 'base64url');
  const holder = given?.holder ?? (isAnonymous(principal) ? HOLDER : undefined);
  return { caller, ...(holder !== undefined && { holder }) };
}

function withoutReceipt(result: ResultObject, { [RECEIPT]: _, ...meta }: JsonObject): ResultObject {
  const isEmpty = Object.keys(meta).length === 0;
  if (result instanceof RawObject) return isEmpty ? result.without('_meta') : result.with({ _meta: meta });
  const { _meta, ...rest } = result;
  return isEmpty ? rest : { ...rest, _meta: meta };
}
