// Opens the store that several processes share.
import { createRedisStore } from '../../dist/flow/store/redis/redis.js';
import { createSqliteStore } from '../../dist/flow/store/sqlite/sqlite.js';

export function openStore({ store, ...options }) {
  return store === 'redis' ? createRedisStore(options) : createSqliteStore(options);
}
