// How often a step is tried, and how many of a name run at once.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toMs } from '../../authoring/span.ts';
import type { RetryPolicy } from '../../authoring/step.ts';
import { callAuthor, readThrown } from '../../engine/author-code.ts';

const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

export interface FailedTry {
  error: unknown;
  /** The number of attempts so far. */
  tried: number;
  /** Time since the first attempt began. */
  elapsedMs: number;
}

/** The pause before the next attempt; undefined after the last attempt. */
export function toRetryPause(policy: RetryPolicy | undefined, failed: FailedTry): number | undefined {
  const { error, tried, elapsedMs } = failed;
  if (!policy || tried >= policy.attempts || !isMeant(policy, error)) return undefined;
  const first = policy.pause === undefined ? PAUSE_MS : toMs(policy.pause, 'pause of a retry');
  const longest = policy.maxPause === undefined ? MAX_PAUSE_MS : toMs(policy.maxPause, 'maxPause of a retry');
  const pause = Math.min(first * 2 ** (tried - 1), longest);
  const isLate = policy.within !== undefined && elapsedMs + pause > toMs(policy.within, 'within of a retry');
  return isLate ? undefined : pause;
}

function isMeant({ on }: RetryPolicy, thrown: unknown): boolean {
  const error = thrown instanceof Error ? thrown : new Error(readThrown(thrown).message);
  // A mistake in the flow would fail again.
  if (error instanceof GatewayError && (error.code === 'FLOW_MISUSED' || error.code === 'FLOW_TOO_LARGE')) return false;
  if (on === undefined) return true;
  if (typeof on === 'function') return callAuthor('on', () => on(error));
  return on.includes(error.name) || (error instanceof GatewayError && on.includes(error.code));
}

/** Semaphores by name, first come, first served. */
export class StepLimits {
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  async run<T>({ name, max }: { name: string; max: number }, work: () => Promise<T>): Promise<T> {
    while ((this.#running.get(name) ?? 0) >= Math.max(max, 1)) await this.#turn(name);
    this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #turn(name: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name) ?? [];
      waiting.push(resolve);
      this.#waiting.set(name, waiting);
    });
  }

  #leave(name: string): void {
    const left = (this.#running.get(name) ?? 1) - 1;
    if (left > 0) this.#running.set(name, left);
    else this.#running.delete(name);
    const waiting = this.#waiting.get(name);
    waiting?.shift()?.();
    if (waiting?.length === 0) this.#waiting.delete(name);
  }
}
