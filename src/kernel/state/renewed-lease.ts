// A lease that renews itself. Whether it is sure is decided by the monotonic clock of this process, and counted from before the command was sent:
// 1. It is sure only while its store cannot have given it to another one.
// 2. A lease that was not sure once is lost, even if a renewal succeeds later.
import { ticksOf } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { Lease } from './state.ts';

interface RenewedLeaseParts {
  fence: number;
  ms: number;
  /** When the command was sent that got it, in ticks. */
  begun: number;
  clock: Clock;
  /** False if it is not ours any more. Rejects if that is not known. */
  renew: () => Promise<boolean>;
  release: () => Promise<void>;
}

export class RenewedLease implements Lease {
  readonly fence: number;
  readonly #parts: RenewedLeaseParts;
  readonly #lost: (() => void)[] = [];
  #sureUntil: number;
  #state: 'held' | 'lost' | 'released' = 'held';
  #cancelRenewal = (): void => {};
  #cancelCheck = (): void => {};

  constructor(parts: RenewedLeaseParts) {
    this.#parts = parts;
    this.fence = parts.fence;
    this.#sureUntil = this.#sureFrom(parts.begun);
    this.#wait();
    this.#check();
  }

  isSure(): boolean {
    if (this.#state === 'held' && ticksOf(this.#parts.clock) >= this.#sureUntil) this.#lose();
    return this.#state === 'held';
  }

  onLost(lost: () => void): void {
    if (this.#state === 'lost') lost();
    else this.#lost.push(lost);
  }

  async release(): Promise<void> {
    if (this.#state === 'released') return;
    const isHeld = this.#state === 'held';
    this.#end('released');
    if (isHeld) await this.#parts.release();
  }

  #sureFrom(begun: number): number {
    return begun + (this.#parts.ms * 2) / 3;
  }

  #wait(): void {
    this.#cancelRenewal = this.#parts.clock.after(this.#parts.ms / 3, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { clock, renew } = this.#parts;
    const begun = ticksOf(clock);
    // Not known is as good as not yet: the check decides when that was too long.
    const isOurs = await renew().catch(() => undefined);
    if (!this.isSure()) return;
    if (isOurs === false) return this.#lose();
    if (isOurs) this.#sureUntil = this.#sureFrom(begun);
    this.#wait();
  }

  /** Also while a renewal hangs. */
  #check(): void {
    const left = this.#sureUntil - ticksOf(this.#parts.clock);
    this.#cancelCheck = this.#parts.clock.after(Math.max(1, left), () => {
      if (this.isSure()) this.#check();
    });
  }

  #lose(): void {
    this.#end('lost');
    for (const lost of this.#lost.splice(0)) lost();
  }

  #end(state: 'lost' | 'released'): void {
    this.#state = state;
    this.#cancelRenewal();
    this.#cancelCheck();
  }
}
