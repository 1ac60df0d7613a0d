// Calls that wait for an answer of their user between two requests. The handler stays where it is, in memory; what travels
// is a sealed reference to it. Single use: each round has its own number, so an old state opens nothing.
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { Limits } from '../../../shared/limits.ts';
import type { StatelessExchange } from './stateless-exchange.ts';

interface Parked {
  exchange: StatelessExchange;
  principal: string;
  round: number;
  forget(): void;
}

export interface Ticket {
  id: string;
  round: number;
}

export class ParkedCalls {
  #calls = new Map<string, Parked>();
  #perPrincipal = new Map<string, number>();
  #limits: Limits;
  #clock: Clock;

  constructor(limits: Limits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Throws TOO_MANY when the principal has too many open questions. */
  park(exchange: StatelessExchange): Ticket {
    const { principal } = exchange.client;
    const count = this.#perPrincipal.get(principal) ?? 0;
    if (count >= this.#limits.maxParked) throw tooMany('calls waiting for an answer', 'maxParked');
    const ticket = { id: randomId(), round: ++exchange.round };
    const forget = this.#clock.after(this.#limits.parkedMs, () => this.#expire(ticket.id));
    this.#calls.set(ticket.id, { exchange, principal, round: ticket.round, forget });
    this.#perPrincipal.set(principal, count + 1);
    return ticket;
  }

  /** The call of this ticket, which is used up by it; undefined when there is none, or it is somebody else's. */
  take(ticket: Ticket, principal: string): StatelessExchange | undefined {
    const parked = this.#calls.get(ticket.id);
    if (!parked || parked.principal !== principal || parked.round !== ticket.round) return undefined;
    this.#remove(ticket.id, parked);
    return parked.exchange;
  }

  /** The target is going away: nobody will come back for an answer. */
  close(): void {
    for (const id of [...this.#calls.keys()]) this.#expire(id);
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
    const left = (this.#perPrincipal.get(parked.principal) ?? 1) - 1;
    if (left > 0) this.#perPrincipal.set(parked.principal, left);
    else this.#perPrincipal.delete(parked.principal);
  }
}

export function tooMany(what: string, limit: string): GatewayError {
  return new GatewayError('TOO_MANY', { what, limit });
}
