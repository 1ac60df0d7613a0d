// The stores that are measured, each with everything it needs, and the way to end it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from '../../dist/flow/store/memory.js';
import { createRedisStore } from '../../dist/flow/store/redis.js';
import { createSqliteStore } from '../../dist/flow/store/sqlite.js';

export const STORES = {
  memory: async () => ({ store: memoryStore(), end: async () => {} }),
  sqlite: () => sqlite(),
  'sqlite, encrypted': () => sqlite('a key'),
  'redis, AOF every second': () => redis('everysec'),
  'redis, AOF always': () => redis('always'),
};

async function sqlite(key) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const path = join(folder, 'flows.db');
  const store = await createSqliteStore({ path, key });
  return {
    store,
    path,
    async end() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function redis(appendfsync) {
  if (spawnSync('redis-server', ['--version']).error) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'yes', appendfsync };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept')) break;
  const store = await createRedisStore({ url: `redis://127.0.0.1:${port}` });
  return {
    store,
    port,
    pid: child.pid,
    async end() {
      await store.close();
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
