// What answers in the place of a client that cannot.
import type { Ask, Exchange } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';

/** The request that asks, and its signal. */
export type StandInRequest = Pick<Exchange, 'client' | 'signal' | 'id'>;

/** Resolves with the answer; rejects with a GatewayError. */
export type StandIn = (ask: Ask, exchange: StandInRequest) => Promise<JsonObject>;
