// Sessions in a durable store outlive the process, but only identified callers can come back for them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createServer } from '../../sdk/server/create-server.ts';
import type { ParleyServer } from '../../sdk/server/create-server.ts';
import { createLog } from '../../kernel/base/log.ts';
import { flow } from '../define.ts';
import { memoryStore } from '../store/memory/memory.ts';
import { createSqliteStore } from '../store/sqlite/sqlite.ts';
import type { FlowStore } from '../store/store.ts';
import { serveFlows } from './serve-flows.ts';

const trip = flow({ name: 'trip' }, async (ask) => ask.text('city'));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function served(store: FlowStore, identify?: () => string) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const server = createServer({ name: 'trips', version: '1', log, ...(identify && { identify }) });
  serveFlows(server, [trip], { store });
  closing.push(() => server.close());
  return { server, warnings: () => lines.filter(({ event }) => event === 'flow.no-identify') };
}

async function onDisk(): Promise<FlowStore> {
  const folder = mkdtempSync(join(tmpdir(), 'no-identify-'));
  const store = await createSqliteStore({ path: join(folder, 'flows.db') });
  closing.push(
    async () => rmSync(folder, { recursive: true }),
    () => store.close(),
  );
  return store;
}

const ways: [string, (server: ParleyServer) => unknown][] = [
  ['on a port', (server) => server.listen({ port: 0 })],
  ['in a server of its own', (server) => server.endpoint()],
];

it.each(ways)('a durable store without identify is warned of once, %s', async (_, open) => {
  const { server, warnings } = served(await onDisk());
  expect(warnings()).toEqual([]);
  await open(server);
  await open(server);
  expect(warnings()).toEqual([
    expect.objectContaining({
      level: 'warn',
      reason: expect.stringContaining('no caller can come back'),
      advice: expect.stringContaining('identify'),
    }),
  ]);
});

it('nothing is logged if callers are identified, or if nothing outlives the process', async () => {
  const known = served(await onDisk(), () => 'ann');
  const brief = served(memoryStore());
  await known.server.listen({ port: 0 });
  await brief.server.listen({ port: 0 });
  expect([...known.warnings(), ...brief.warnings()]).toEqual([]);
});
