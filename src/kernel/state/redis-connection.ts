// A connection to Redis, of a flow store or a state: loads ioredis on demand, checks how the server is configured, and runs scripts by their
// digest. ioredis repeats a command after a broken connection; the scripts allow for that.
import { lazyCrypto } from '../crypto/lazy-crypto.ts';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { GatewayError } from '../base/errors.ts';

export interface RedisPlace {
  /** `redis://…` or `rediss://…`. */
  url?: string | undefined;
  /** A connected ioredis client or cluster. The store does not close it. */
  client?: Redis | Cluster | undefined;
  /** Waits after every change until this server and so many replicas have it on disk (WAITAOF, Redis 7.2). */
  waitAof?: { local: 0 | 1; replicas: number } | undefined;
  /** How long a command waits for an unreachable server. */
  patienceMs?: number | undefined;
  /** Whether keys that expire must stay until then, too. */
  keepsExpiring?: boolean | undefined;
  /** Called if some of what was acknowledged can be lost when the server ends suddenly, with what. */
  onForgetful?: ((what: string) => void) | undefined;
}

export type ScriptArgument = string | number | Uint8Array;

export interface RedisConnection {
  /** Runs a script that writes, and waits as `waitAof` says. */
  change(script: string, keys: string[], values: ScriptArgument[]): Promise<unknown>;
  run(script: string, keys: string[], values?: ScriptArgument[]): Promise<unknown>;
  read<T>(work: (client: Redis | Cluster) => Promise<T>): Promise<T>;
  /** Removes keys without waiting for the disk. */
  forget(keys: string[]): Promise<void>;
  close(): Promise<void>;
}

/** How long a command waits for an unreachable server. */
const PATIENCE_MS = 10_000;

export async function connectRedis(place: RedisPlace): Promise<RedisConnection> {
  const client = place.client ?? (await open(place));
  try {
    await examine(client, place);
  } catch (error) {
    if (!place.client) client.disconnect();
    throw error;
  }
  const run = createRunner(client);
  const onDisk = place.waitAof ? createBarrier(client, place.waitAof) : undefined;
  let closed = false;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw new GatewayError('STORE_FAILED', { reason: 'it is closed' });
    return work().catch(failed);
  };
  return {
    read: (work) => guarded(() => work(client)),
    forget: async (keys) => void (await guarded(() => client.unlink(...keys))),
    run: (script, keys, values = []) => guarded(() => run(script, keys, values)),
    change: (script, keys, values) =>
      guarded(async () => {
        const answer = await run(script, keys, values);
        await onDisk?.();
        return answer;
      }),
    async close() {
      if (closed) return;
      closed = true;
      // Redis answers QUIT after all earlier commands.
      if (!place.client) await client.quit().catch(() => client.disconnect());
    },
  };
}

async function open({ url, patienceMs = PATIENCE_MS }: RedisPlace): Promise<Redis> {
  if (!url) throw new GatewayError('BAD_OPTION', { option: 'url', reason: 'is missing: redis://host:port' });
  const { Redis: Client } = await loadIoredis();
  const options: RedisOptions = {
    lazyConnect: true,
    commandTimeout: patienceMs,
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(50 * times, 1000),
    // After a fail-over the old server may live on as a replica, to which a connection would stick.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  };
  const client = new Client(url, options);
  // Without a listener ioredis writes to the console. Commands report their own errors.
  let last: Error | undefined;
  client.on('error', (error) => (last = error));
  try {
    await client.connect();
    return client;
  } catch (cause) {
    client.disconnect();
    if (!URL.canParse(url)) {
      throw new GatewayError('BAD_OPTION', { option: 'url', reason: 'is not a URL: redis://host:port' }, { cause });
    }
    const { hostname, port } = new URL(url);
    const reason = `${hostname}:${port || 6379} does not answer: ${(last ?? (cause as Error)).message}`;
    throw new GatewayError('STORE_UNUSABLE', { reason }, { cause });
  }
}

async function loadIoredis(): Promise<{ Redis: new (url: string, options: RedisOptions) => Redis }> {
  try {
    return await import('ioredis');
  } catch (cause) {
    const reason = 'the package ioredis is not installed (npm install ioredis)';
    throw new GatewayError('STORE_UNUSABLE', { reason }, { cause });
  }
}

const NO_AOF = 'it has no append-only file (appendonly no): when it ends suddenly, all since its last snapshot is lost';

/** Redis must not evict sessions, and must support WAITAOF if it is used. */
async function examine(client: Redis | Cluster, { waitAof, keepsExpiring, onForgetful }: RedisPlace): Promise<void> {
  if (waitAof && client.isCluster) unusable('waitAof works with a single server, not with a cluster');
  const said = await client.info().catch(failed);
  const value = (name: string) => new RegExp(`^${name}:(\\S*)`, 'm').exec(said)?.[1] ?? '';
  const policy = value('maxmemory_policy');
  const evicts = keepsExpiring ? policy !== 'noeviction' : policy.startsWith('allkeys');
  if (Number(value('maxmemory')) > 0 && evicts) {
    unusable(
      `Redis evicts ${keepsExpiring ? 'keys' : 'sessions'} when its memory is full (maxmemory-policy ${policy}); set it to noeviction`,
    );
  }
  if (value('aof_enabled') === '0') onForgetful?.(NO_AOF);
  const version = value('redis_version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (waitAof && (major < 7 || (major === 7 && minor < 2))) {
    unusable(`waitAof needs Redis 7.2, and this is ${version}; use \`appendfsync always\` instead`);
  }
}

function createRunner(
  client: Redis | Cluster,
): (script: string, keys: string[], values: ScriptArgument[]) => Promise<unknown> {
  const digests = new Map<string, string>();
  const digestOf = (script: string): string => {
    let digest = digests.get(script);
    if (!digest) digests.set(script, (digest = lazyCrypto().createHash('sha1').update(script).digest('hex')));
    return digest;
  };
  return async (script, keys, values) => {
    const rest = [...keys, ...values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))];
    try {
      return await client.evalsha(digestOf(script), keys.length, ...rest);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return client.eval(script, keys.length, ...rest);
    }
  };
}

/** One WAITAOF for all changes of the same turn of the event loop. */
function createBarrier(
  client: Redis | Cluster,
  { local, replicas }: { local: number; replicas: number },
): () => Promise<void> {
  let shared: Promise<void> | undefined;
  const wait = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    shared = undefined;
    const [onDisk, copies] = (await client.call('WAITAOF', local, replicas, PATIENCE_MS)) as [number, number];
    if (onDisk < local || copies < replicas) throw new Error(`it was not on disk within ${PATIENCE_MS} ms`);
  };
  return () => (shared ??= wait());
}

function failed(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause;
  throw new GatewayError('STORE_FAILED', { reason: `Redis: ${(cause as Error).message}` }, { cause });
}

function unusable(reason: string): never {
  throw new GatewayError('STORE_UNUSABLE', { reason });
}
