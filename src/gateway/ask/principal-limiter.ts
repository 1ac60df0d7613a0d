// Lets each principal do so many things at once; what is more waits for its turn, in order, and too much of it is refused.
import { GatewayError } from '../../shared/errors.ts';

/** For every one that may run. */
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

  /** Who gives up while waiting rejects as cancelled. */
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
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        line.waiting.splice(line.waiting.indexOf(enter), 1);
        reject(new GatewayError('CANCELLED'));
      };
      line.waiting.push(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** The place goes to the one who has waited longest. */
  #leave(principal: string, line: Line): void {
    const next = line.waiting.shift();
    if (next) return next();
    line.running--;
    if (line.running === 0) this.#lines.delete(principal);
  }
}
