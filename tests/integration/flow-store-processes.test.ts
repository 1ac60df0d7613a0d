// The stores that processes share, raced for by processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/flow/store/postgres/postgres.ts';
import { createRedisStore } from '../../src/flow/store/redis/redis.ts';
import { createSqliteStore } from '../../src/flow/store/sqlite/sqlite.ts';
import type { FlowStore } from '../../src/flow/store/store.ts';
import { expectWhole, whileIt } from '../../src/flow/store/store-races.contract.ts';
import { header, MANY, start } from '../../src/flow/store/store-samples.contract.ts';
import { ROOT } from '../helpers/files.ts';
import { hasPostgres, startPostgres } from '../helpers/postgres-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';
import { within } from '../helpers/until.ts';

const RACER = join(ROOT, 'tests', 'fixtures', 'programs', 'store-racer.mjs');
const RACERS = 3;

interface Outcome {
  appended: string[];
  made: string[];
  same: string[];
  spent: boolean[];
  leases: ({ fence: number } | null)[];
}

describe('processes that share a store', () => {
  it.each([undefined, 'a key of this test'])('keep its word in one SQLite file (key: %s)', async (key) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-racers-'));
    const options = { path: join(folder, 'flows.db'), ...(key && { key }) };
    try {
      await raced(await createSqliteStore(options), { store: 'sqlite', options });
    } finally {
      removeFolder(folder);
    }
  });

  it.skipIf(!hasTool('redis-server'))('keep its word in Redis', async () => {
    await using redis = await startRedis();
    const options = { url: redis.url };
    await raced(await createRedisStore(options), { store: 'redis', options });
  });
});

describe.skipIf(!hasPostgres())('processes that share a store in Postgres', () => {
  it.each([undefined, 'a key of this test'])('keep its word (key: %s)', async (key) => {
    await using postgres = await startPostgres();
    const options = { url: postgres.url, ...(key && { key }) };
    await raced(await createPostgresStore(options), { store: 'postgres', options });
  });
});

async function raced(store: FlowStore, place: { store: string; options: object }): Promise<void> {
  const shared = header({ current: [1] });
  await store.create(shared, [start], MANY);
  const racers = await Promise.all(Array.from({ length: RACERS }, () => startRacer({ ...place, id: shared.id })));
  const outcomes = await whileIt(Promise.all(racers.map(({ go }) => go())), () => expectWhole(store, shared));
  await Promise.all(racers.map(({ leave }) => leave()));

  const { header: found, entries } = (await store.load(shared.id))!;
  const kept = entries.slice(1).map((entry) => ('k' in entry ? entry.k : ''));
  const acknowledged = outcomes.flatMap(({ appended }) => appended);
  expect(kept.toSorted()).toEqual(acknowledged.toSorted());
  expect(found.rev).toBe(1 + acknowledged.length);

  expect(outcomes.flatMap(({ made }) => made).filter((told) => told === 'ok')).toHaveLength(10);
  expect(await store.list('racers')).toHaveLength(10);
  for (const each of [(one: Outcome) => one.same.map((told) => told === 'ok'), (one: Outcome) => one.spent]) {
    const won = outcomes.map(each);
    for (let index = 0; index < won[0]!.length; index++) {
      expect(won.filter((answers) => answers[index])).toHaveLength(1);
    }
  }
  for (let index = 0; index < 5; index++) {
    // Each asked twice; only one process may have got it, both times.
    const fences = outcomes.map(({ leases }) => [leases[index], leases[index + 5]].filter(Boolean).length);
    expect(fences.toSorted((a, b) => a - b)).toEqual([0, 0, 2]);
  }
  await store.close();
}

interface Racer {
  go: () => Promise<Outcome>;
  leave: () => Promise<unknown>;
}

/** Resolves when it is ready. */
async function startRacer(told: object): Promise<Racer> {
  const child = spawn(process.execPath, [RACER, JSON.stringify(told)], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  await within('a racer to be ready', once(lines, 'line'));
  const exited = once(child, 'exit');
  return {
    async go() {
      child.stdin.write('go\n');
      const [line] = (await within('what a racer got', once(lines, 'line'))) as [string];
      return JSON.parse(line) as Outcome;
    },
    leave() {
      child.stdin.end();
      return within('a racer to end', exited);
    },
  };
}
