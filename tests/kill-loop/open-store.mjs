// Opens the store that several processes share.
import { createPostgresStore, createRedisStore, createSqliteStore } from '../../dist/_entries/internals.js';

export function openStore({ store, ...options }) {
  if (store === 'postgres') return createPostgresStore(options);
  return store === 'redis' ? createRedisStore(options) : createSqliteStore(options);
}
