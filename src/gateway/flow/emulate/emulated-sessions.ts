// All tools that are just now played by calling them, by the ids of their sessions. To anybody but the principal that began one it
// does not exist. Ended ones are remembered for a while by their state alone.
import { START_ID } from '../../../protocol/interaction.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import { UnacknowledgedOutcomes } from './unacknowledged-outcomes.ts';
import { EmulatedSession } from './emulated-session.ts';
import type { EmulatedSessionOptions } from './emulated-session.ts';

export interface SessionStart {
  id: string;
  /** What was started. */
  what: string;
}

export type NewEmulatedSession = Pick<
  EmulatedSessionOptions,
  'tool' | 'principal' | 'tell' | 'warn' | 'expired' | 'withdrawn'
> & {
  timeoutMs: number | undefined;
  /** How the same client names it that has sent its start again. */
  start?: SessionStart | undefined;
};

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** As for flows. */
const MIN_TIMEOUT_MS = 50;
const TOMBSTONE_MS = 5 * 60_000;
const RETRY_MS = 1000;
/** Of ended ones, the oldest are forgotten first. */
const MAX_ENDED = 10_000;

export class EmulatedSessions {
  readonly #clock: Clock;
  readonly #limits: { maxParked: number; parkedMs: number };
  readonly #onForgotten: (id: string) => void;
  readonly #calls = new Map<string, EmulatedSession>();
  readonly #ended = new Set<string>();
  readonly #outcomes = new UnacknowledgedOutcomes();
  /** By principal and start-id. */
  readonly #started = new BoundedMap<string, { sessionId: string; what: string }>(MAX_ENDED);

  constructor(clock: Clock, limits: { maxParked: number; parkedMs: number }, onForgotten: (id: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onForgotten = onForgotten;
  }

  /** The session that this client has begun with this start-id. */
  startedAs({ id, what }: SessionStart, principal: string): EmulatedSession | undefined {
    const started = this.#started.get(toKey(principal, id));
    const call = started && this.#calls.get(started.sessionId);
    if (!call || started.what === what) return call;
    throw new GatewayError('INVALID_PARAMS', { data: { [START_ID]: id, error: 'Has started something else' } });
  }

  begin({ timeoutMs = DEFAULT_TIMEOUT_MS, start, ...call }: NewEmulatedSession): EmulatedSession {
    const open = [...this.#calls.values()].filter((one) => one.options.principal === call.principal && !one.hasEnded);
    if (open.length >= this.#limits.maxParked) {
      const retryAfterMs = RETRY_MS;
      throw new GatewayError('FLOW_LIMIT', { what: 'too many sessions', limit: 'maxParked', retryAfterMs });
    }
    const id = randomId('session_');
    const lasting = Math.min(Math.max(timeoutMs, MIN_TIMEOUT_MS), Math.max(this.#limits.parkedMs, DEFAULT_TIMEOUT_MS));
    const clock = this.#clock;
    const kept = { outcomes: this.#outcomes, onEnd: () => this.#bury(id) };
    const played = new EmulatedSession({ ...call, ...kept, id, clock, timeoutMs: lasting });
    this.#calls.set(id, played);
    if (start) this.#started.set(toKey(call.principal, start.id), { sessionId: id, what: start.what });
    return played;
  }

  /** Undefined where there is none of this id, or it is somebody else's. */
  find({ sessionId }: JsonObject, principal: string): EmulatedSession | undefined {
    const call = this.#calls.get(String(sessionId));
    return call?.options.principal === principal ? call : undefined;
  }

  #bury(id: string): void {
    this.#ended.add(id);
    this.#clock.after(TOMBSTONE_MS, () => this.#forget(id));
    if (this.#ended.size > MAX_ENDED) this.#forget(this.#ended.values().next().value!);
  }

  #forget(id: string): void {
    this.#ended.delete(id);
    this.#outcomes.forget(id);
    if (this.#calls.delete(id)) this.#onForgotten(id);
  }
}

function toKey(principal: string, startId: string): string {
  return `${principal}\0${startId}`;
}
