// Limits how many tasks of one principal run at once. More have to wait in order, and too many are refused.
import { GatewayError } from '../../shared/errors.ts';
import { openPromise } from '../../shared/timing.ts';

/** Waiting tasks per running one. */
const MAX_WAITING = 16;

interface Line {
  running: number;
  waiting: (() => void)[];
}

export class PrincipalLimiter {
  readonly #max: number;
  readonly #lines = new Map<string, Line>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Rejects with CANCELLED if aborted while waiting. */
  async run<T>(principal: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(principal) ?? { running: 0, waiting: [] };
    this.#lines.set(principal, line);
    if (line.running >= this.#max) await this.#wait(line, signal);
    else line.running++;
    try {
      return await work();
    } finally {
      this.#leave(principal, line);
    }
  }

  #wait(line: Line, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(new GatewayError('CANCELLED'));
    if (line.waiting.length >= this.#max * MAX_WAITING) {
      return Promise.reject(new GatewayError('TOO_MANY', { what: 'questions to the model', limit: 'maxConcurrent' }));
    }
    let enter = (): void => {};
    return openPromise<void>(signal, {
      begin: ({ resolve }) => line.waiting.push((enter = resolve)),
      takeBack: () => line.waiting.splice(line.waiting.indexOf(enter), 1),
    });
  }

  /** Starts the task that has waited longest. */
  #leave(principal: string, line: Line): void {
    const next = line.waiting.shift();
    if (next) return next();
    line.running--;
    if (line.running === 0) this.#lines.delete(principal);
  }
}
