// A state in Redis or Valkey, shared by gateways on any number of machines. All times are those of the server, so clocks of machines may differ.
// Keys are hashed: who reads the Redis learns nothing of them, and their length is bounded.
import { GatewayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { createCounter, randomId } from '../crypto/ids.ts';
import { sha256 } from '../crypto/lazy-crypto.ts';
import { connectRedis } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { State } from './state.ts';

export interface RedisStateOptions {
  /** `redis://…` or `rediss://…`. */
  url: string;
  log: Log;
  /** Of all keys. States with different prefixes share nothing. Default: `parley`. */
  prefix?: string | undefined;
}

/** How long a call waits for Redis. */
const PATIENCE_MS = 500;

/** KEYS key. ARGV mark, ttl (ms). A command that is repeated after a broken connection finds its own mark. */
const TAKE = `
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
`;

export async function createRedisState({ url, log, prefix = 'parley' }: RedisStateOptions): Promise<State> {
  const connection = await connectRedis({ url, patienceMs: PATIENCE_MS, keepsExpiring: true }).catch(toBadOption);
  return new RedisState(connection, { log, prefix });
}

function toBadOption(cause: unknown): never {
  const { reason } = cause instanceof GatewayError ? cause.details : {};
  throw new GatewayError('BAD_OPTION', { option: 'state', reason: reason ?? 'it cannot be opened' }, { cause });
}

class RedisState implements State {
  readonly #connection: RedisConnection;
  readonly #log: Log;
  /** One hash tag, as for flow stores. */
  readonly #prefix: string;
  readonly #mark: () => string = createCounter(`${randomId()}-`);

  constructor(connection: RedisConnection, { log, prefix }: { log: Log; prefix: string }) {
    this.#connection = connection;
    this.#log = log;
    this.#prefix = `{${prefix}}`;
  }

  async take(key: string, ttlMs: number): Promise<boolean> {
    const name = `${this.#prefix}t:${sha256(key, 'base64url')}`;
    return (await this.#run(TAKE, [name], [this.#mark(), ttlMs])) === 1;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #run(...command: Parameters<RedisConnection['run']>): Promise<unknown> {
    try {
      return await this.#connection.run(...command);
    } catch (cause) {
      this.#log.error({ reason: (cause as GatewayError).details.reason }, 'state.failed');
      throw new GatewayError('STATE_FAILED', {}, { cause });
    }
  }
}
