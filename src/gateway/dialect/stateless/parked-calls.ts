// Calls that wait between two requests for their user's answer. The handler stays in memory; the client carries a
// sealed ticket. A ticket works once, because each round has its own number.
import { callerOfClient } from '../../../protocol/exchange.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { Limits } from '../../../shared/limits.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

interface Parked {
  exchange: StatelessExchange;
  principal: string;
  /** Who has it, for the limit: clients without a login share a principal. */
  caller: string;
  round: number;
  forget(): void;
}

export interface Ticket {
  id: string;
  round: number;
}

export class ParkedCalls {
  #calls = new Map<string, Parked>();
  #perCaller = new Map<string, number>();
  #limits: Limits;
  #clock: Clock;

  constructor(limits: Limits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Throws TOO_MANY when the caller has too many open questions. */
  park(exchange: StatelessExchange): Ticket {
    const { principal } = exchange.client;
    const caller = callerOfClient(exchange.client);
    const count = this.#perCaller.get(caller) ?? 0;
    if (count >= this.#limits.maxParked) throw tooMany('calls waiting for an answer', 'maxParked');
    const ticket = { id: randomId(), round: ++exchange.round };
    const forget = this.#clock.after(this.#limits.parkedMs, () => this.#expire(ticket.id));
    this.#calls.set(ticket.id, { exchange, principal, caller, round: ticket.round, forget });
    this.#perCaller.set(caller, count + 1);
    return ticket;
  }

  /** Removes and returns the call of this ticket; undefined if the ticket is unknown or belongs to another principal. */
  take(ticket: Ticket, principal: string): StatelessExchange | undefined {
    const parked = this.#calls.get(ticket.id);
    if (!parked || parked.principal !== principal || parked.round !== ticket.round) return undefined;
    this.#remove(ticket.id, parked);
    return parked.exchange;
  }

  /** The target is closing: abandons all calls. */
  close(): void {
    for (const id of this.#calls.keys()) this.#expire(id);
  }

  #expire(id: string): void {
    const parked = this.#calls.get(id);
    if (!parked) return;
    this.#remove(id, parked);
    parked.exchange.abandon();
  }

  #remove(id: string, parked: Parked): void {
    parked.forget();
    this.#calls.delete(id);
    const left = (this.#perCaller.get(parked.caller) ?? 1) - 1;
    if (left > 0) this.#perCaller.set(parked.caller, left);
    else this.#perCaller.delete(parked.caller);
  }
}

export function tooMany(what: string, limit: string): GatewayError {
  return new GatewayError('TOO_MANY', { what, limit });
}
