// Opens the store that several processes share.
import { createRedisStore, createSqliteStore } from '../../dist/_entries/internals.js';

export function openStore({ store, ...options }) {
  return store === 'redis' ? createRedisStore(options) : createSqliteStore(options);
}
