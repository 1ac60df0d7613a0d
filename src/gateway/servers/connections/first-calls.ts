// On a connection that several clients share, nothing says which of two open calls a question belongs to. What has been called before is known to ask or
// not; what has not is therefore called alone, beside calls that are known to be quiet.
// 1. A call that may be a first one holds its place until it has ended, whatever becomes of it.
// 2. Another one waits until then, or until the server asks: it then looks for a place again.
// 3. None waits for longer than `MAX_WAIT_MS`, so that a slow call holds up no others.
import type { Clock } from '../../../kernel/base/clock.ts';

const MAX_WAIT_MS = 2000;

export class FirstCalls {
  readonly #clock: Clock;
  #running: object | undefined;
  readonly #waiting = new Set<() => void>();
  /** Those that have waited as long as they may. */
  readonly #impatient = new WeakSet<object>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined if the call may be sent now; otherwise it resolves when it should look for a place again. */
  begin(call: object): Promise<void> | undefined {
    if (this.#running === undefined) this.#running = call;
    if (this.#running === call || this.#impatient.has(call)) return undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        stop();
        resolve();
      };
      const stop = this.#clock.after(MAX_WAIT_MS, () => {
        this.#impatient.add(call);
        end();
      });
      this.#waiting.add(end);
    });
  }

  end(call: object): void {
    if (this.#running !== call) return;
    this.#running = undefined;
    this.wake();
  }

  /** The server has asked, so that what waits may have a better place now. */
  wake(): void {
    for (const end of this.#waiting) end();
  }
}
