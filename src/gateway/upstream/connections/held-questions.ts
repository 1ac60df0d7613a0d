// Holds questions that a server asks before any call can carry them, such as for roots at its start. A stateless client can be
// asked only during its calls, so the question waits for the next one.
import type { Ask } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { AskHandler } from '../questions/ask-routing.ts';

/** How long the official SDKs wait for an answer. */
const HOLD_MS = 60_000;
const MAX_HELD = 16;

export class HeldQuestions {
  readonly #clock: Clock;
  readonly #held = new Set<(put: AskHandler | undefined) => Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** Holds only questions for roots: a form that appears during an unrelated call would confuse its user. */
  takes({ method }: Ask): boolean {
    return method === 'roots/list' && this.#held.size < MAX_HELD;
  }

  /** Rejects when no call comes in time, or when the client refuses. */
  hold(ask: Ask, signal: AbortSignal | undefined): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const settle = async (put: AskHandler | undefined): Promise<void> => {
        this.#held.delete(settle);
        stop();
        signal?.removeEventListener('abort', giveUp);
        if (!put) return reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method }));
        await put(ask, signal).then(resolve, reject);
      };
      const giveUp = (): void => void settle(undefined);
      const stop = this.#clock.after(HOLD_MS, giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#held.add(settle);
    });
  }

  /** Asks all held questions as part of a call. Resolves when the answers have been sent to the server. */
  async release(put: AskHandler): Promise<void> {
    await Promise.all([...this.#held].map((settle) => settle(put)));
    // The answers pass through a few promises first; the call must be sent after them.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
