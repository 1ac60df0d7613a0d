// The stores of sessions, each created for every play.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedisStore, createSqliteStore, memoryStore } from 'mcp-parley/flow';
import type { FlowStore } from 'mcp-parley/flow';
import { removeFolder } from '../remove-folder.ts';

export type StoreName = 'memory' | 'SQLite' | 'Redis' | 'token';

export interface Place {
  store: FlowStore;
  close(): Promise<void>;
}

let made = 0;

export const STORES: Record<StoreName, (redis: string) => Promise<Place>> = {
  async memory() {
    return placeOf(memoryStore());
  },
  async SQLite() {
    const folder = mkdtempSync(join(tmpdir(), 'parley-table-'));
    const store = await createSqliteStore({ path: join(folder, 'flows.db'), key: 'a key of this test' });
    return placeOf(store, () => removeFolder(folder));
  },
  async Redis(url) {
    return placeOf(await createRedisStore({ url, prefix: `table${++made}` }));
  },
  async token() {
    return placeOf(roomless());
  },
};

function placeOf(store: FlowStore, after: () => void = () => {}): Place {
  return {
    store,
    async close() {
      await store.close();
      after();
    },
  };
}

/** Accepts no session, so the client must carry everything. Files and secrets are still stored. */
function roomless(): FlowStore {
  return Object.assign(memoryStore(), { create: async () => 'limit' as const });
}
