// The state of one process, which ends with it. Time is that of the system, as times in tokens are.
import { ticksOf } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Rate } from '../base/rate.ts';
import { createCounter } from '../crypto/ids.ts';
import { RenewedLease } from './renewed-lease.ts';
import { StateRows } from './state-rows.ts';
import type { StateRowMap } from './state-rows.ts';
import type { Draw, StateEntry, Lease, State } from './state.ts';
import { SetWatchers } from './set-watchers.ts';

export class MemoryState implements State {
  readonly isShared: boolean;
  readonly #clock: Clock;
  readonly #sets = new Map<string, StateRowMap>();
  readonly #watchers = new SetWatchers();
  readonly #owner = createCounter('');
  #last = 0;

  /** `isShared`: several gateways of this process use it. */
  constructor(clock: Clock, { isShared = false } = {}) {
    this.#clock = clock;
    this.isShared = isShared;
  }

  async get(set: string, key: string): Promise<StateEntry | undefined> {
    return this.#in(`set ${set}`, (rows) => rows.get(key));
  }

  async put(
    set: string,
    key: string,
    value: string,
    at: { version: number; ttlMs?: number | undefined },
  ): Promise<number | undefined> {
    const version = orFail(this.#in(`set ${set}`, (rows) => rows.put(key, value, at)));
    if (version !== undefined) this.#watchers.tell(set);
    return version;
  }

  async remove(set: string, key: string, at?: { version: number }): Promise<boolean> {
    const isRemoved = this.#in(`set ${set}`, (rows) => rows.remove(key, at));
    if (isRemoved) this.#watchers.tell(set);
    return isRemoved;
  }

  async list(set: string): Promise<Map<string, StateEntry>> {
    return this.#in(`set ${set}`, (rows) => rows.list());
  }

  async take(key: string, ttlMs: number): Promise<boolean> {
    return typeof this.#in('taken', (rows) => rows.put(key, '', { version: 0, ttlMs })) === 'number';
  }

  async draw(key: string, rate: Rate, count: number): Promise<Draw> {
    return orFail(this.#in('rates', (rows) => rows.draw(key, rate, count)));
  }

  async lease(key: string, ms: number): Promise<Lease | undefined> {
    const owner = this.#owner();
    const fence = orFail(this.#in('leases', (rows) => rows.lease(key, owner, ms)));
    if (fence === undefined) return undefined;
    return new RenewedLease({
      fence,
      ms,
      clock: this.#clock,
      begun: ticksOf(this.#clock),
      renew: async () => this.#in('leases', (rows) => rows.renew(key, owner, ms)),
      release: async () => this.#in('leases', (rows) => rows.release(key, owner)),
    });
  }

  watch(set: string, changed: () => void): () => void {
    return this.#watchers.add(set, changed);
  }

  async close(): Promise<void> {
    this.#sets.clear();
    this.#watchers.clear();
  }

  #in<T>(name: string, work: (rows: StateRows) => T): T {
    let rows = this.#sets.get(name);
    if (!rows) this.#sets.set(name, (rows = new Map()));
    const all = new StateRows(rows, { now: this.#clock.now(), last: this.#last });
    try {
      return work(all);
    } finally {
      this.#last = all.last;
    }
  }
}

function orFail<T>(outcome: T | 'full'): T {
  if (outcome === 'full') throw new GatewayError('STATE_FAILED', {});
  return outcome;
}
