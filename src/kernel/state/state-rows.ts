// The rules of a state over plain rows, for states whose rows are in this process at the moment of a change: in memory, or read from a file under
// its lock. Time is given, so that every change happens at one moment.
import type { Rate } from '../base/rate.ts';
import type { Draw, StateEntry } from './state.ts';

export interface Row extends StateEntry {
  /** When it is over; Infinity if it stays. */
  readonly until: number;
}

export type StateRowMap = Map<string, Row>;

/** What a set holds at most. */
const MAX_ROWS = 100_000;

/** One set of rows. */
export class StateRows {
  readonly rows: StateRowMap;
  readonly #now: number;
  /** The highest version so far. Versions are times, so that they rise even if all was lost. */
  last: number;

  constructor(rows: StateRowMap, { now, last }: { now: number; last: number }) {
    this.rows = rows;
    this.#now = now;
    this.last = last;
  }

  get(key: string): StateEntry | undefined {
    const row = this.#find(key);
    return row && { value: row.value, version: row.version };
  }

  /** The new version; undefined if it has changed; `full` if nothing more can be remembered. */
  put(
    key: string,
    value: string,
    { version, ttlMs = Infinity }: { version: number; ttlMs?: number | undefined },
  ): number | 'full' | undefined {
    if ((this.#find(key)?.version ?? 0) !== version) return undefined;
    if (version === 0 && !this.#hasRoom()) return 'full';
    const next = (this.last = Math.max(Math.floor(this.#now * 1000), this.last + 1));
    this.rows.delete(key); // what has changed moves to the end
    this.rows.set(key, { value, version: next, until: this.#now + ttlMs });
    return next;
  }

  remove(key: string, at?: { version: number }): boolean {
    const row = this.#find(key);
    if (!row || (at && at.version !== row.version)) return false;
    return this.rows.delete(key);
  }

  list(): Map<string, StateEntry> {
    this.#forgetAllOver();
    return new Map([...this.rows].map(([key, { value, version }]) => [key, { value, version }]));
  }

  /** GCRA: the row is the time at which the allowance will be whole again. */
  draw(key: string, { count, perMs }: Rate, wanted: number): Draw | 'full' {
    const stepMs = perMs / count;
    const row = this.#find(key);
    const wholeAt = Math.max(this.#now, Number(row?.value ?? 0));
    // A last step that is there but for a rounding of floating-point numbers counts.
    const free = Math.floor((perMs - (wholeAt - this.#now)) / stepMs + 1e-6);
    if (free < 1) return { granted: 0, waitMs: Math.ceil(wholeAt - this.#now + stepMs - perMs) };
    const granted = Math.min(free, wanted);
    const next = wholeAt + granted * stepMs;
    const version = this.put(key, String(next), { version: row?.version ?? 0, ttlMs: next - this.#now });
    return version === 'full' ? 'full' : { granted, waitMs: 0 };
  }

  /** The fence; undefined while another one holds it. */
  lease(key: string, owner: string, ms: number): number | 'full' | undefined {
    return this.put(key, owner, { version: 0, ttlMs: ms });
  }

  /** False if it is not theirs any more. */
  renew(key: string, owner: string, ms: number): boolean {
    const row = this.#find(key);
    if (row?.value !== owner) return false;
    this.rows.set(key, { ...row, until: this.#now + ms });
    return true;
  }

  release(key: string, owner: string): void {
    if (this.#find(key)?.value === owner) this.rows.delete(key);
  }

  #find(key: string): Row | undefined {
    const row = this.rows.get(key);
    return row && row.until > this.#now ? row : undefined;
  }

  #hasRoom(): boolean {
    for (const [key, { until }] of this.rows) {
      if (until > this.#now) break;
      this.rows.delete(key); // the oldest are first
    }
    if (this.rows.size >= MAX_ROWS) this.#forgetAllOver();
    return this.rows.size < MAX_ROWS;
  }

  #forgetAllOver(): void {
    for (const [key, { until }] of this.rows) if (until <= this.#now) this.rows.delete(key);
  }
}
