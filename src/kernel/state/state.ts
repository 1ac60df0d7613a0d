// What gateways remember that is not alive: data, and no open request, connection or promise. Gateways that share a state act as one.
// 1. Each operation is atomic, however many gateways use the state at the same time.
// 2. One that cannot be done rejects with STATE_FAILED, and soon, because a call waits for it. Where the state protects something, the call is
//    refused then.
// 3. What is in a state has one clock, that of its store: clocks of machines may differ.
import type { Rate } from '../base/rate.ts';

/** What a state remembers under a key. */
export interface StateEntry {
  readonly value: string;
  /** Another one after each change, also of a key that was removed in between. Never 0. */
  readonly version: number;
}

/** What was drawn of a rate. */
export interface Draw {
  /** How many; at most as many as were wanted. */
  readonly granted: number;
  /** If none was granted: how long until there is one. */
  readonly waitMs: number;
}

/** The right to do something alone, for as long as it is renewed, which it does by itself. */
export interface Lease {
  /** Higher for each later holder. What was done under a lower one can be told apart. */
  readonly fence: number;
  /** False after two thirds of the time without a renewal, while nobody else can have it yet. Once false, it stays false. */
  isSure(): boolean;
  /** Called once if it is lost before it is released. */
  onLost(lost: () => void): void;
  release(): Promise<void>;
}

export interface State {
  /** Whether other gateways may use it, too. If not, its user may remember things in variables of its own, which costs less. */
  readonly isShared: boolean;
  get(set: string, key: string): Promise<StateEntry | undefined>;
  /**
   * Compare and set. `version`: the one that was read; 0 if there must be none. The new version, or undefined if it has changed since. Without
   * `ttlMs` it stays.
   */
  put(
    set: string,
    key: string,
    value: string,
    at: { version: number; ttlMs?: number | undefined },
  ): Promise<number | undefined>;
  /** Whether it was there, in this version if one is named. */
  remove(set: string, key: string, at?: { version: number }): Promise<boolean>;
  /** For sets whose size an operator decides, not a peer. */
  list(set: string): Promise<Map<string, StateEntry>>;
  /**
   * True for the first one who takes this key within the time, of all who share the state. False, too, where nothing more can be remembered: a key
   * that was forgotten early could be taken twice.
   */
  take(key: string, ttlMs: number): Promise<boolean>;
  /** Counts up to `count` at once of what a rate allows under this key. */
  draw(key: string, rate: Rate, count: number): Promise<Draw>;
  /** Undefined while another one holds it. */
  lease(key: string, ms: number): Promise<Lease | undefined>;
  /**
   * Calls back soon after a set has changed, at most seconds later, and perhaps when it has not. Returns a function that ends this.
   * Who listens reads again: what has changed is not said.
   */
  watch(set: string, changed: () => void): () => void;
  close(): Promise<void>;
}
