// Waits for servers to report that a page was visited (`notifications/elicitation/complete`). Not every server does: after a
// while the caller retries without it.
import type { Abortable } from '../../../shared/cancellation.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { BoundedMap } from '../../../shared/containers/bounded-map.ts';

/** Visits reported before a caller waits for them. */
const MAX_KNOWN = 1000;
const FIRST_WAIT_MS = 15_000;
const LAST_WAIT_MS = 120_000;

export class ElicitationCompletions {
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, true>(MAX_KNOWN);
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  complete(elicitationId: string): void {
    this.#known.set(elicitationId, true);
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves when all of these are complete, or when it is time to retry. `attempt` counts from 0. Rejects if the call is
   * cancelled.
   */
  wait(elicitationIds: readonly string[], signal: Abortable, attempt: number): Promise<void> {
    if (signal.aborted) return Promise.reject(new GatewayError('CANCELLED'));
    return new Promise((resolve, reject) => {
      const end = (by: () => void): void => {
        stop();
        this.#waiting.delete(look);
        signal.removeEventListener('abort', cancel);
        for (const id of elicitationIds) this.#known.delete(id);
        by();
      };
      const look = (): void => {
        if (elicitationIds.length > 0 && elicitationIds.every((id) => this.#known.peek(id))) end(resolve);
      };
      const cancel = (): void => end(() => reject(new GatewayError('CANCELLED')));
      const stop = this.#clock.after(Math.min(FIRST_WAIT_MS * 2 ** attempt, LAST_WAIT_MS), () => end(resolve));
      this.#waiting.add(look);
      signal.addEventListener('abort', cancel, { once: true });
      look();
    });
  }
}
