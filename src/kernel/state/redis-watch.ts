// Notices changes of sets in Redis: a message is a hint to look at the counters of the sets, and they are looked at every second anyway, because
// messages get lost. While Redis is away nothing is noticed; what has changed then is noticed afterwards.
import type { Redis } from 'ioredis';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { RedisConnection } from './redis-connection.ts';
import { SetWatchers } from './set-watchers.ts';

const LOOK_MS = 1000;

interface RedisWatchParts {
  channel: string;
  counterOf: (set: string) => string;
  log: Log;
}

export class RedisWatch {
  readonly #connection: RedisConnection;
  readonly #parts: RedisWatchParts;
  readonly #watchers = new SetWatchers();
  /** The counter of each watched set, as it was last seen. */
  readonly #seen = new Map<string, string | null>();
  #subscriber: Redis | undefined;
  #cancelLook: (() => void) | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(connection: RedisConnection, parts: RedisWatchParts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  add(set: string, changed: () => void): () => void {
    const end = this.#watchers.add(set, changed);
    if (!this.#cancelLook) this.#begin();
    return end;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#watchers.clear();
    this.#subscriber?.disconnect();
  }

  #begin(): void {
    this.#lookLater();
    void this.#subscribe().catch((error: unknown) => {
      if (!this.#isClosed) this.#parts.log.warn({ error }, 'state.not-watched'); // looking every second goes on
    });
  }

  async #subscribe(): Promise<void> {
    const client = await this.#connection.read(async (own) => own as Redis);
    const subscriber = client.duplicate({ lazyConnect: true, commandTimeout: undefined });
    subscriber.on('error', () => {}); // it connects again by itself
    subscriber.on('message', () => void this.#look());
    if (this.#isClosed) return subscriber.disconnect();
    this.#subscriber = subscriber;
    await subscriber.subscribe(this.#parts.channel);
  }

  #lookLater(): void {
    this.#cancelLook = systemClock.after(LOOK_MS, () => {
      void this.#look();
      this.#lookLater();
    });
  }

  async #look(): Promise<void> {
    const sets = this.#watchers.sets;
    if (this.#isLooking || sets.length === 0) return;
    this.#isLooking = true;
    try {
      const keys = sets.map((set) => this.#parts.counterOf(set));
      const counters = await this.#connection.read((client) => client.mget(keys));
      for (const [n, set] of sets.entries()) this.#compare(set, counters[n] ?? null);
    } catch {
      // Redis is away: the next look finds what has changed
    } finally {
      this.#isLooking = false;
    }
  }

  #compare(set: string, counter: string | null): void {
    const isOther = this.#seen.get(set) !== counter; // the first look counts as a change
    this.#seen.set(set, counter);
    if (isOther) this.#watchers.tell(set);
  }
}
