// Answers a question in the place of a client that cannot: from the configuration, or by a model of the operator's.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';

/** For whom it answers, and until when the answer is wanted. */
export type StandInFor = Pick<Exchange, 'client' | 'signal' | 'id'>;

/** Resolves as the client would have answered; rejects with a GatewayError. */
export type StandIn = (ask: Ask, exchange: StandInFor) => Promise<JsonObject>;

export interface StandIns {
  'sampling/createMessage'?: StandIn | undefined;
  'roots/list'?: StandIn | undefined;
}
