// Sessions by id, bounded in number and in idle time. Ids are unguessable, and are no authentication.
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Limits } from '../../shared/limits.ts';

export interface Expiring {
  readonly id: string;
  readonly owner: string | undefined;
  lastSeen: number;
  readonly isBusy: boolean;
  close(): void;
}

export class SessionTable<S extends Expiring> {
  readonly #sessions = new Map<string, S>();
  readonly #limits: Limits;
  readonly #clock: Clock;
  #stopSweep: (() => void) | undefined;

  constructor(limits: Limits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: S): void {
    if (this.#sessions.size >= this.#limits.maxSessions) {
      throw new GatewayError('TOO_MANY', { what: 'sessions', limit: 'maxSessions' });
    }
    this.#sessions.set(session.id, session);
    this.#stopSweep ??= this.#scheduleSweep();
  }

  /** Throws SESSION_NOT_FOUND for an unknown id, and just so for somebody else's: no oracle. */
  get(id: string, owner: string | undefined): S {
    const session = this.#sessions.get(id);
    if (!session || session.owner !== owner) throw new GatewayError('SESSION_NOT_FOUND');
    session.lastSeen = this.#clock.now();
    return session;
  }

  has(id: string, owner: string | undefined): boolean {
    const session = this.#sessions.get(id);
    return session !== undefined && session.owner === owner;
  }

  remove(session: S): void {
    this.#sessions.delete(session.id);
    session.close();
  }

  close(): void {
    this.#stopSweep?.();
    for (const session of [...this.#sessions.values()]) this.remove(session);
  }

  #check(session: S): void {
    const now = this.#clock.now();
    if (session.isBusy) session.lastSeen = now;
    else if (session.lastSeen < now - this.#limits.sessionIdleMs) this.remove(session);
  }

  #scheduleSweep(): () => void {
    return this.#clock.after(this.#limits.sessionIdleMs / 4, () => {
      for (const session of [...this.#sessions.values()]) this.#check(session);
      this.#stopSweep = this.#sessions.size > 0 ? this.#scheduleSweep() : undefined;
    });
  }
}
