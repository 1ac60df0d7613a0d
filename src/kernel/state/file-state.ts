// A state in a folder, for gateways of one machine and one user: a file for each set, written whole, and a lock for those who change it. What is
// in it is not sealed: only its user can read it. Changes of the same set that come together are written together.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ticksOf } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Rate } from '../base/rate.ts';
import { randomId } from '../crypto/ids.ts';
import { withFileLock } from '../files/file-lock.ts';
import { fileStamp } from '../files/file-stamp.ts';
import { readIfThere, writePrivateFile } from '../files/private-file.ts';
import { isObject } from '../message.ts';
import { RenewedLease } from './renewed-lease.ts';
import { StateRows } from './state-rows.ts';
import type { StateRowMap } from './state-rows.ts';
import type { Draw, StateEntry, Lease, State } from './state.ts';
import { SetWatchers } from './set-watchers.ts';

/** How long a change waits for those of other processes. */
const PATIENCE_MS = 2000;
const LOOK_MS = 500;

interface Change {
  work: (rows: StateRows) => unknown;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
}

interface SetFile {
  last: number;
  rows: StateRowMap;
}

export class FileState implements State {
  readonly isShared = true;
  readonly #folder: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Change[]>();
  readonly #watchers = new SetWatchers();
  /** Of watched files, as they were last seen. */
  readonly #seen = new Map<string, string>();
  #cancelLook: (() => void) | undefined;
  #isClosed = false;

  constructor(folder: string, { log, clock }: { log: Log; clock: Clock }) {
    this.#folder = folder;
    this.#log = log;
    this.#clock = clock;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  get(set: string, key: string): Promise<StateEntry | undefined> {
    return this.#read(`set-${set}`, (rows) => rows.get(key));
  }

  async put(
    set: string,
    key: string,
    value: string,
    at: { version: number; ttlMs?: number | undefined },
  ): Promise<number | undefined> {
    const version = await this.#change(`set-${set}`, (rows) => orFail(rows.put(key, value, at)));
    if (version !== undefined) this.#watchers.tell(set);
    return version;
  }

  async remove(set: string, key: string, at?: { version: number }): Promise<boolean> {
    const isRemoved = await this.#change(`set-${set}`, (rows) => rows.remove(key, at));
    if (isRemoved) this.#watchers.tell(set);
    return isRemoved;
  }

  list(set: string): Promise<Map<string, StateEntry>> {
    return this.#read(`set-${set}`, (rows) => rows.list());
  }

  take(key: string, ttlMs: number): Promise<boolean> {
    return this.#change('taken', (rows) => typeof rows.put(key, '', { version: 0, ttlMs }) === 'number');
  }

  draw(key: string, rate: Rate, count: number): Promise<Draw> {
    return this.#change('rates', (rows) => orFail(rows.draw(key, rate, count)));
  }

  async lease(key: string, ms: number): Promise<Lease | undefined> {
    const owner = randomId();
    const begun = ticksOf(this.#clock);
    const fence = await this.#change('leases', (rows) => orFail(rows.lease(key, owner, ms)));
    if (fence === undefined) return undefined;
    return new RenewedLease({
      fence,
      ms,
      clock: this.#clock,
      begun,
      renew: () => this.#change('leases', (rows) => rows.renew(key, owner, ms)),
      release: () => this.#change('leases', (rows) => rows.release(key, owner)),
    });
  }

  watch(set: string, changed: () => void): () => void {
    this.#seen.set(set, this.#stampOf(set));
    const end = this.#watchers.add(set, changed);
    this.#cancelLook ??= this.#lookLater();
    return end;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#watchers.clear();
  }

  #lookLater(): () => void {
    return this.#clock.after(LOOK_MS, () => {
      for (const set of this.#watchers.sets) {
        const stamp = this.#stampOf(set);
        const isOther = stamp !== this.#seen.get(set);
        this.#seen.set(set, stamp);
        if (isOther) this.#watchers.tell(set);
      }
      this.#cancelLook = this.#watchers.sets.length > 0 ? this.#lookLater() : undefined;
    });
  }

  /** A file is never changed, only replaced. */
  #stampOf(set: string): string {
    return fileStamp(this.#path(`set-${set}`));
  }

  async #read<T>(name: string, work: (rows: StateRows) => T): Promise<T> {
    try {
      if (this.#isClosed) throw new Error('it is closed');
      return work(this.#rowsOf(this.#load(name)));
    } catch (cause) {
      throw this.#toFailed(cause);
    }
  }

  #change<T>(name: string, work: (rows: StateRows) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const change: Change = { work, done: (value) => resolve(value as T), failed: reject };
      const waiting = this.#waiting.get(name);
      if (waiting) return void waiting.push(change);
      this.#waiting.set(name, [change]);
      void this.#write(name);
    });
  }

  /** All changes of a file that wait, until there are none. */
  async #write(name: string): Promise<void> {
    const lock = { path: `${this.#path(name)}.lock`, waitMs: PATIENCE_MS, onLate: () => new Error('it is locked') };
    const taken: Change[] = [];
    try {
      if (this.#isClosed) throw new Error('it is closed');
      const outcomes = await withFileLock(lock, async () => {
        taken.push(...this.#waiting.get(name)!.splice(0));
        return this.#apply(name, taken);
      });
      for (const tell of outcomes) tell();
    } catch (cause) {
      const error = this.#toFailed(cause);
      for (const { failed } of [...taken, ...this.#waiting.get(name)!.splice(0)]) failed(error);
    }
    if (this.#waiting.get(name)!.length > 0) return this.#write(name);
    this.#waiting.delete(name);
  }

  #apply(name: string, changes: Change[]): (() => void)[] {
    const file = this.#load(name);
    const rows = this.#rowsOf(file);
    const outcomes = changes.map(({ work, done, failed }) => {
      try {
        const value = work(rows);
        return (): void => done(value);
      } catch (error) {
        return (): void => failed(error);
      }
    });
    rows.list(); // forgets what is over
    this.#store(name, { rows: rows.rows, last: rows.last });
    return outcomes;
  }

  #rowsOf({ rows, last }: SetFile): StateRows {
    return new StateRows(rows, { now: this.#clock.now(), last });
  }

  #load(name: string): SetFile {
    const text = readIfThere(this.#path(name));
    if (text === undefined) return { last: 0, rows: new Map() };
    const read = JSON.parse(text) as unknown;
    if (!isObject(read) || !Array.isArray(read.rows)) throw new Error(`${this.#path(name)} is not a file of a state`);
    const rows = (read.rows as [string, string, number, number | null][]).map(
      ([key, value, version, until]) => [key, { value, version, until: until ?? Infinity }] as const,
    );
    return { last: Number(read.last), rows: new Map(rows) };
  }

  #store(name: string, { last, rows }: SetFile): void {
    const list = [...rows].map(([key, { value, version, until }]) => [key, value, version, until]); // Infinity is null
    writePrivateFile(this.#path(name), JSON.stringify({ last, rows: list }));
  }

  #path(name: string): string {
    return join(this.#folder, `${encodeURIComponent(name)}.json`);
  }

  #toFailed(cause: unknown): GatewayError {
    if (cause instanceof GatewayError) return cause;
    this.#log.error({ reason: (cause as Error).message, folder: this.#folder }, 'state.failed');
    return new GatewayError('STATE_FAILED', {}, { cause });
  }
}

function orFail<T>(outcome: T | 'full'): T {
  if (outcome === 'full') throw new GatewayError('STATE_FAILED', {});
  return outcome;
}
