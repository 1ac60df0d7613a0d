// Batches of `setImmediate` callbacks, which Node runs one after another with only microtasks in between. Each callback but the last knows
// that another follows, and so may open a window that the next one closes.
import { setImmediate } from 'node:timers';
import { closeWindow } from './window.ts';

const MAX_BATCH = 4096;

export class Ticks {
  readonly #onTick: (followed: boolean) => void;
  #planned = 0;

  constructor(onTick: (followed: boolean) => void) {
    this.#onTick = onTick;
  }

  /** Does nothing while a batch is running, because two batches would mix. */
  plan(count: number): void {
    if (this.#planned > 0) return;
    this.#planned = Math.min(count, MAX_BATCH);
    for (let at = 0; at < this.#planned; at++) setImmediate(this.#tick);
  }

  readonly #tick = (): void => {
    this.#planned--;
    closeWindow();
    this.#onTick(this.#planned > 0);
  };
}
