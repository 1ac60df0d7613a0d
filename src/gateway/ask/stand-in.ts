// Stand-ins answer questions for clients that cannot: from the configuration, or with the operator's model.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';

/** The request that asks, and its signal. */
export type StandInFor = Pick<Exchange, 'client' | 'signal' | 'id'>;

/** Resolves with the answer; rejects with a GatewayError. */
export type StandIn = (ask: Ask, exchange: StandInFor) => Promise<JsonObject>;

export interface StandIns {
  'sampling/createMessage'?: StandIn | undefined;
  'roots/list'?: StandIn | undefined;
}
