// A state in Redis or Valkey, shared by gateways on any number of machines. All times are those of the server, so clocks of machines may differ.
// Keys are hashed and values are sealed: who reads the Redis learns nothing of them, and who writes it can remove but not forge or exchange them.
import { systemClock, ticksOf } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Rate } from '../base/rate.ts';
import { createCounter, randomId } from '../crypto/ids.ts';
import { sha256 } from '../crypto/lazy-crypto.ts';
import type { Sealer } from '../crypto/seal.ts';
import { connectRedis } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import * as scripts from './redis-state-scripts.ts';
import { RedisWatch } from './redis-watch.ts';
import { RenewedLease } from './renewed-lease.ts';
import type { Draw, StateEntry, Lease, State } from './state.ts';

export interface RedisStateOptions {
  /** `redis://…` or `rediss://…`. */
  url: string;
  log: Log;
  /** Seals values; all gateways need the same keys. */
  sealer: Sealer;
  /** Of all keys. States with different prefixes share nothing. Default: `parley`. */
  prefix?: string | undefined;
}

/** How long a call waits for Redis. */
const PATIENCE_MS = 500;

export async function createRedisState({ url, prefix = 'parley', ...rest }: RedisStateOptions): Promise<State> {
  const onForgetful = (what: string): void => rest.log.warn({ what }, 'state.not-durable');
  const place = { url, patienceMs: PATIENCE_MS, keepsExpiring: true, onForgetful };
  const connection = await connectRedis(place).catch(toBadOption);
  return new RedisState(connection, { ...rest, tag: `{${prefix}}` });
}

function toBadOption(cause: unknown): never {
  const { reason } = cause instanceof GatewayError ? cause.details : {};
  throw new GatewayError('BAD_OPTION', { option: 'state', reason: reason ?? 'it cannot be opened' }, { cause });
}

interface RedisStateParts extends Pick<RedisStateOptions, 'log' | 'sealer'> {
  /** One hash tag, as for flow stores. */
  tag: string;
}

class RedisState implements State {
  readonly isShared = true;
  readonly #connection: RedisConnection;
  readonly #log: Log;
  readonly #sealer: Sealer;
  readonly #tag: string;
  readonly #watch: RedisWatch;
  readonly #mark: () => string = createCounter(`${randomId()}-`);

  constructor(connection: RedisConnection, { log, sealer, tag }: RedisStateParts) {
    this.#connection = connection;
    this.#log = log;
    this.#sealer = sealer;
    this.#tag = tag;
    const channel = `${tag}w`;
    this.#watch = new RedisWatch(connection, { channel, counterOf: (set) => this.#ofSet(set, 'n'), log });
  }

  async get(set: string, key: string): Promise<StateEntry | undefined> {
    const name = nameOf(key);
    const [row] = await this.#rows(set, [name]);
    return row && this.#open(set, name, row).kept;
  }

  async put(
    set: string,
    key: string,
    value: string,
    { version, ttlMs }: { version: number; ttlMs?: number | undefined },
  ): Promise<number | undefined> {
    const name = nameOf(key);
    const sealed = this.#sealer.seal('state', bindingOf(set, name), [key, value]);
    const ttl = ttlMs === undefined ? '' : Math.max(1, Math.ceil(ttlMs));
    const change = [name, sealed, String(version), ttl, this.#mark(), `${this.#tag}w`, set];
    const next = await this.#run(scripts.PUT, this.#keysOf(set, name), change);
    return next === null ? undefined : Number(next);
  }

  async remove(set: string, key: string, at?: { version: number }): Promise<boolean> {
    const name = nameOf(key);
    const change = [name, at ? String(at.version) : '', `${this.#tag}w`, set];
    return (await this.#run(scripts.REMOVE, this.#keysOf(set, name), change)) === 1;
  }

  async list(set: string): Promise<Map<string, StateEntry>> {
    const names = (await this.#run(scripts.NAMES, [this.#ofSet(set, 'i')], [])) as string[];
    const rows = await this.#rows(set, names);
    const listed = new Map<string, StateEntry>();
    for (const [n, row] of rows.entries()) {
      if (!row) continue; // it has ended in between
      const { key, kept } = this.#open(set, names[n]!, row);
      listed.set(key, kept);
    }
    return listed;
  }

  async take(key: string, ttlMs: number): Promise<boolean> {
    return (await this.#run(scripts.TAKE, [`${this.#tag}t:${nameOf(key)}`], [this.#mark(), ttlMs])) === 1;
  }

  async draw(key: string, { count, perMs }: Rate, wanted: number): Promise<Draw> {
    const drawn = await this.#run(scripts.DRAW, [`${this.#tag}r:${nameOf(key)}`], [count, perMs, wanted]);
    const [granted, waitMs] = drawn as [number, number];
    return { granted, waitMs };
  }

  async lease(key: string, ms: number): Promise<Lease | undefined> {
    const name = `${this.#tag}l:${nameOf(key)}`;
    const owner = this.#mark();
    const begun = ticksOf(systemClock);
    const fence = await this.#run(scripts.TAKE_LEASE, [name], [owner, ms]).catch((error: unknown) => {
      // What came too late for us may still be done, and nobody would hold that lease. Commands are done in the order in which they are sent.
      this.#connection.run(scripts.END_LEASE, [name], [owner]).catch(() => {});
      throw error;
    });
    if (fence === null) return undefined;
    return new RenewedLease({
      fence: Number(fence),
      ms,
      clock: systemClock,
      begun,
      renew: async () => (await this.#run(scripts.RENEW_LEASE, [name], [owner, ms])) === 1,
      release: async () => void (await this.#run(scripts.END_LEASE, [name], [owner])),
    });
  }

  watch(set: string, changed: () => void): () => void {
    return this.#watch.add(set, changed);
  }

  async close(): Promise<void> {
    this.#watch.close();
    await this.#connection.close();
  }

  #keysOf(set: string, name: string): string[] {
    return [`${this.#ofSet(set, 'c')}:${name}`, this.#ofSet(set, 'i'), this.#ofSet(set, 'n')];
  }

  #ofSet(set: string, kind: 'c' | 'i' | 'n'): string {
    return `${this.#tag}${kind}:${set}`;
  }

  /** In one trip. */
  #rows(set: string, names: string[]): Promise<([string, string] | undefined)[]> {
    return this.#guard(() =>
      this.#connection.read(async (client) => {
        const reads = names.map((name) => client.hmget(`${this.#ofSet(set, 'c')}:${name}`, 'version', 'value'));
        const rows = await Promise.all(reads);
        return rows.map(([version, value]) => (version && value ? [version, value] : undefined));
      }),
    );
  }

  /** What cannot be opened could be a pin or a key: it is not the same as nothing. */
  #open(set: string, name: string, [version, sealed]: [string, string]): { key: string; kept: StateEntry } {
    const opened = this.#sealer.open('state', bindingOf(set, name), sealed) as [string, string] | undefined;
    if (opened) return { key: opened[0], kept: { value: opened[1], version: Number(version) } };
    const reason = `a value of ${set} was altered, or sealed with a key that is not in \`keys\``;
    throw this.#toFailed(new GatewayError('STORE_FAILED', { reason }));
  }

  #run(...command: Parameters<RedisConnection['run']>): Promise<unknown> {
    return this.#guard(() => this.#connection.run(...command));
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw this.#toFailed(cause as GatewayError);
    }
  }

  #toFailed(cause: GatewayError): GatewayError {
    this.#log.error({ reason: cause.details.reason }, 'state.failed');
    return new GatewayError('STATE_FAILED', {}, { cause });
  }
}

/** Its length is bounded. */
function nameOf(key: string): string {
  return sha256(key, 'base64url');
}

function bindingOf(set: string, name: string): string {
  return `${set} ${name}`;
}
