// Holds sessions by id, with limits in total, per caller and on idle time. Ids are unguessable but do not authenticate. Invariants:
// 1. A caller that opens too many loses its own longest-idle sessions and never takes the room of others: many clients open a session for each call and
//    never end it. Callers whom nobody knows share an address; a flood of sessions that are opened and never used ends those first.
// 2. It promises what an `OwnedTable` promises, but each request passes it: a session notes when it was last seen instead of setting a timer again, and
//    does not expire while it is busy.
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Limits } from '../../../kernel/base/limits.ts';

interface ExpiringSession {
  readonly id: string;
  readonly owner: string | undefined;
  /** Monotonic time. */
  lastSeen: number;
  readonly isBusy: boolean;
  /** A request came after the one that opened it. */
  isUsed: boolean;
  /** The session is over. */
  end(): void;
  /** This process closes the session; another may restore it. */
  close(): void;
}

/** The room for sessions at all paths of an endpoint together. */
export class SessionRoom {
  readonly #limits: Limits;
  readonly #callers = new Map<string, Map<ExpiringSession, () => void>>();
  #size = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Takes a place, perhaps that of a session of the same caller. `remove` removes this one. Returns what frees the place. */
  take(session: ExpiringSession, caller: string, remove: () => void): () => void {
    this.#makeRoom(caller);
    const own = this.#callers.get(caller) ?? new Map<ExpiringSession, () => void>();
    this.#callers.set(caller, own.set(session, remove));
    this.#size++;
    return () => {
      if (!own.delete(session)) return;
      this.#size--;
      if (own.size === 0 && this.#callers.get(caller) === own) this.#callers.delete(caller);
    };
  }

  #makeRoom(caller: string): void {
    const { maxSessions, maxSessionsPerCaller } = this.#limits;
    const own = this.#callers.get(caller) ?? new Map<ExpiringSession, () => void>();
    const isOver = own.size >= maxSessionsPerCaller;
    if (!isOver && this.#size < maxSessions) return;
    const oldest = longestUnused(own.keys());
    if (oldest) own.get(oldest)!();
    else
      throw new GatewayError('TOO_MANY', { what: 'sessions', limit: isOver ? 'maxSessionsPerCaller' : 'maxSessions' });
  }
}

export class SessionTable<S extends ExpiringSession> {
  /** By id. */
  readonly #sessions = new Map<string, S>();
  /** How to free the places of sessions. */
  readonly #places = new Map<S, () => void>();
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #room: SessionRoom;
  #stopSweep: (() => void) | undefined;

  constructor(limits: Limits, clock: Clock, room: SessionRoom = new SessionRoom(limits)) {
    this.#limits = limits;
    this.#clock = clock;
    this.#room = room;
  }

  get size(): number {
    return this.#sessions.size;
  }

  values(): S[] {
    return [...this.#sessions.values()];
  }

  /** Does not count as use. */
  peek(id: string): S | undefined {
    return this.#sessions.get(id);
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** `caller` is the one that the limit counts. Throws TOO_MANY when no room is left. */
  add(session: S, caller: string): void {
    this.#places.set(
      session,
      this.#room.take(session, caller, () => this.remove(session)),
    );
    this.#sessions.set(session.id, session);
    this.#stopSweep ??= this.#scheduleSweep();
  }

  /**
   * Throws SESSION_NOT_FOUND for an unknown id and for the session of another caller alike, so that ids cannot be
   * probed.
   */
  get(id: string, owner: string | undefined): S {
    const session = this.find(id, owner);
    if (session) return session;
    throw new GatewayError('SESSION_NOT_FOUND');
  }

  /** The session, which counts as used; undefined where `get` throws. */
  find(id: string, owner: string | undefined): S | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.owner !== owner) return undefined;
    session.lastSeen = ticksOf(this.#clock);
    session.isUsed = true;
    return session;
  }

  remove(session: S): void {
    this.#sessions.delete(session.id);
    this.#forget(session);
    session.end();
  }

  /** Another gateway has the session now. */
  lose(id: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    this.#forget(session);
    session.close();
  }

  close(): void {
    this.#stopSweep?.();
    const all = this.values();
    this.#sessions.clear();
    for (const session of all) {
      this.#forget(session);
      session.close();
    }
  }

  #forget(session: S): void {
    this.#places.get(session)?.();
    this.#places.delete(session);
  }

  #scheduleSweep(): () => void {
    return this.#clock.after(this.#limits.sessionIdleMs / 4, () => {
      const now = ticksOf(this.#clock);
      for (const session of this.#sessions.values()) {
        if (session.isBusy) session.lastSeen = now;
        else if (session.lastSeen < now - this.#limits.sessionIdleMs) this.remove(session);
      }
      this.#stopSweep = this.#sessions.size > 0 ? this.#scheduleSweep() : undefined;
    });
  }
}

function longestUnused<S extends ExpiringSession>(sessions: Iterable<S>): S | undefined {
  let oldest: S | undefined;
  for (const one of sessions) if (!one.isBusy && !(oldest && isBefore(oldest, one))) oldest = one;
  return oldest;
}

/** Whether the first one makes way before the second. */
function isBefore(one: ExpiringSession, other: ExpiringSession): boolean {
  return one.isUsed === other.isUsed ? one.lastSeen <= other.lastSeen : other.isUsed;
}
