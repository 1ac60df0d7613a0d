// The emulated sessions by id. A session exists only for the principal that began it. Of ended ones only the state is remembered, for a
// while, and the outcome until its client has acknowledged it.
import type { JsonObject } from '../../../../kernel/message.ts';
import type { Clock } from '../../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../../kernel/containers/bounded-map.ts';
import { MemoryOwnedTable } from '../../../../kernel/containers/owned-table.ts';
import type { OwnedTable } from '../../../../kernel/containers/owned-table.ts';
import { randomId } from '../../../../kernel/crypto/ids.ts';
import { GatewayError } from '../../../../kernel/base/errors.ts';
import { EmulatedSession } from './emulated-session.ts';
import type { EmulatedSessionOptions } from './emulated-session.ts';
import { UnacknowledgedOutcomes } from './unacknowledged-outcomes.ts';

export interface SessionStart {
  id: string;
  /** The tool and its arguments. */
  what: string;
}

export type NewEmulatedSession = Pick<
  EmulatedSessionOptions,
  'tool' | 'principal' | 'caller' | 'tell' | 'warn' | 'expired' | 'withdrawn'
> & {
  timeoutMs: number | undefined;
  /** The start id with which the client may repeat its start. */
  start?: SessionStart | undefined;
};

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** The same limit as for flows. */
const MIN_TIMEOUT_MS = 50;
const TOMBSTONE_MS = 5 * 60_000;
const RETRY_MS = 1000;
/** The number of ended sessions to remember. */
const MAX_ENDED = 10_000;

interface EmulationOptions {
  clock: Clock;
  limits: { maxParked: number; parkedMs: number };
  /** What ids end in. */
  mark?: string | undefined;
}

export class EmulatedSessions {
  readonly #clock: Clock;
  readonly #mark: string;
  readonly #limits: { maxParked: number; parkedMs: number };
  /** Each has a timeout of its own, which stops while its tool works. An ended one is its own tombstone. */
  readonly #calls: OwnedTable<EmulatedSession, EmulatedSession>;
  readonly #outcomes = new UnacknowledgedOutcomes();
  /** Session ids by principal and start id. */
  readonly #started = new BoundedMap<string, { sessionId: string; what: string }>(MAX_ENDED);

  constructor({ clock, limits, mark = '' }: EmulationOptions, onForgotten: (id: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#mark = mark;
    this.#calls = new MemoryOwnedTable({
      clock,
      max: limits.maxParked,
      toFull: () =>
        new GatewayError('FLOW_LIMIT', { what: 'too many sessions', limit: 'maxParked', retryAfterMs: RETRY_MS }),
      tombstones: {
        max: MAX_ENDED,
        lifeMs: TOMBSTONE_MS,
        onForgotten: (id) => {
          this.#outcomes.forget(id);
          onForgotten(id);
        },
      },
    });
  }

  /** The session that this client began with this start id. */
  startedAs({ id, what }: SessionStart, principal: string): EmulatedSession | undefined {
    const started = this.#started.get(toKey(principal, id));
    const call = started && this.find(started, principal);
    if (!call || started.what === what) return call;
    throw new GatewayError('START_ID_USED');
  }

  begin({ timeoutMs = DEFAULT_TIMEOUT_MS, start, ...call }: NewEmulatedSession): EmulatedSession {
    this.#calls.checkRoom(call.caller);
    const id = randomId('session_') + this.#mark;
    const lasting = Math.min(Math.max(timeoutMs, MIN_TIMEOUT_MS), Math.max(this.#limits.parkedMs, DEFAULT_TIMEOUT_MS));
    const clock = this.#clock;
    const kept = { outcomes: this.#outcomes, onEnd: () => this.#calls.remove(id, played) };
    const played: EmulatedSession = new EmulatedSession({ ...call, ...kept, id, clock, timeoutMs: lasting });
    this.#calls.add(id, played, { owner: call.principal, caller: call.caller });
    if (start) this.#started.set(toKey(call.principal, start.id), { sessionId: id, what: start.what });
    return played;
  }

  /** Undefined if the session does not exist or belongs to another principal. */
  find({ sessionId }: JsonObject, principal: string): EmulatedSession | undefined {
    const id = String(sessionId);
    return this.#calls.get(id, principal) ?? this.#calls.tombstone(id, principal);
  }
}

function toKey(principal: string, startId: string): string {
  return `${principal}\0${startId}`;
}
