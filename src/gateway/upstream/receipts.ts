// Lets a server keep the result of a flow until the client of this gateway has it: the result may wait here for a client to fetch it, and is
// lost if this process dies before that. The server keeps it for the next call of the same client.
import { deriveExchange } from '../../protocol/derived-exchange.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import { RECEIPT, readReceiptRequest } from '../../protocol/interaction.ts';
import type { ReceiptRequest } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { RawObject, fieldOf } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { isAnonymous } from '../../shared/anonymous.ts';
import type { Clock } from '../../shared/clock.ts';
import { lazyCrypto } from '../../shared/crypto/lazy-crypto.ts';
import { randomId } from '../../shared/crypto/ids.ts';

/** Time for the result to leave this process. */
const ACKNOWLEDGE_MS = 200;
/** This process, among those of the same gateway. */
const HOLDER = randomId();

export interface ReceiptOptions {
  clock: Clock;
  send: (exchange: Exchange) => Promise<ResultObject>;
  /** Acknowledges the result of a session to the server. */
  acknowledge: (sessionId: string) => Promise<unknown>;
}

export async function callWithReceipt(exchange: Exchange, options: ReceiptOptions): Promise<ResultObject> {
  const given = readReceiptRequest(exchange.params);
  const result = await options.send(deriveExchange(exchange, { params: withRequest(exchange, given) }));
  const meta = fieldOf(result, '_meta');
  const sessionId = isObject(meta) ? meta[RECEIPT] : undefined;
  if (typeof sessionId !== 'string' || given) return result; // a gateway in front acknowledges it
  if (!(exchange.cancellation ?? exchange.signal).aborted && exchange.isConnected !== false)
    acknowledgeWhenTaken(exchange, sessionId, options);
  return withoutReceipt(result, meta as JsonObject);
}

function withRequest(exchange: Exchange, given: ReceiptRequest | undefined): JsonObject {
  const { params } = exchange;
  return {
    ...params,
    _meta: { ...(isObject(params._meta) && params._meta), [RECEIPT]: toOwnRequest(exchange, given) },
  };
}

/** Clients that share a connection are one principal to the server, so callers must not be able to pretend to be others. */
function toOwnRequest({ client: { principal } }: Exchange, given: ReceiptRequest | undefined): ReceiptRequest {
  const hashed = lazyCrypto()
    .createHash('sha256')
    .update(`${RECEIPT}\0${principal}\0${given?.caller ?? ''}`);
  const holder = given?.holder ?? (isAnonymous(principal) ? HOLDER : undefined);
  return { caller: hashed.digest('base64url'), ...(holder !== undefined && { holder }) };
}

function acknowledgeWhenTaken(exchange: Exchange, sessionId: string, { clock, acknowledge }: ReceiptOptions): void {
  const onTaken = (): void => {
    // If the server is away, it offers the result once more.
    clock.after(ACKNOWLEDGE_MS, () => void acknowledge(sessionId).catch(() => {}));
  };
  if (exchange.whenTaken) exchange.whenTaken(onTaken);
  else onTaken();
}

function withoutReceipt(result: ResultObject, { [RECEIPT]: _, ...meta }: JsonObject): ResultObject {
  const isEmpty = Object.keys(meta).length === 0;
  if (result instanceof RawObject) return isEmpty ? result.without('_meta') : result.with({ _meta: meta });
  const { _meta, ...rest } = result;
  return isEmpty ? rest : { ...rest, _meta: meta };
}
