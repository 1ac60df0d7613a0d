// All tools that are just now played by calling them, by the ids of their sessions. To anybody but the principal that began one it
// does not exist. Ended ones are remembered for a while by their state alone.
import type { JsonObject } from '../../protocol/message.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { randomId } from '../../shared/ids.ts';
import { PlayedCall } from './played-call.ts';
import type { PlayedCallOptions } from './played-call.ts';

export type NewCall = Pick<PlayedCallOptions, 'tool' | 'principal' | 'tell' | 'warn'> & {
  timeoutMs: number | undefined;
};

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** As for flows. */
const MIN_TIMEOUT_MS = 50;
const TOMBSTONE_MS = 5 * 60_000;
const RETRY_MS = 1000;
/** Of ended ones, the oldest are forgotten first. */
const MAX_ENDED = 10_000;

export class PlayedCalls {
  readonly #clock: Clock;
  readonly #limits: { maxParked: number; parkedMs: number };
  readonly #onForgotten: (id: string) => void;
  readonly #calls = new Map<string, PlayedCall>();
  readonly #ended = new Set<string>();

  constructor(clock: Clock, limits: { maxParked: number; parkedMs: number }, onForgotten: (id: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onForgotten = onForgotten;
  }

  begin({ timeoutMs = DEFAULT_TIMEOUT_MS, ...call }: NewCall): PlayedCall {
    const open = [...this.#calls.values()].filter((one) => one.options.principal === call.principal && !one.hasEnded);
    if (open.length >= this.#limits.maxParked) {
      const retryAfterMs = RETRY_MS;
      throw new GatewayError('FLOW_LIMIT', { what: 'too many sessions', limit: 'maxParked', retryAfterMs });
    }
    const id = randomId('session_');
    const lasting = Math.min(Math.max(timeoutMs, MIN_TIMEOUT_MS), Math.max(this.#limits.parkedMs, DEFAULT_TIMEOUT_MS));
    const clock = this.#clock;
    const played = new PlayedCall({ ...call, id, clock, timeoutMs: lasting, onEnd: () => this.#bury(id) });
    this.#calls.set(id, played);
    return played;
  }

  /** Undefined where there is none of this id, or it is somebody else's. */
  find({ sessionId }: JsonObject, principal: string): PlayedCall | undefined {
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
    if (this.#calls.delete(id)) this.#onForgotten(id);
  }
}
