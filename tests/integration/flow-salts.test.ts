// Stores hold hashes of principals. An attacker who has read a store guesses users by hashing names; a salt of each store makes a table of guesses
// useless for other stores. Owners are known all the same, in every process of the store.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { createRedisStore, createSqliteStore, flow, serveFlows } from 'mcp-parley/flow';
import type { FlowStore } from 'mcp-parley/flow';
import { findSessions } from '../../src/flow/operator/find-sessions.ts';
import { toOwner } from '../../src/flow/header.ts';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';

// A name that no hash can contain by chance: three letters such as `ada` stand in one of a hundred hexadecimal ones.
const ADA = 'ada@example.test';
const city = flow({ name: 'city' }, async (ask) => `to ${await ask.text('city')}`);
let folder: string;
let redis: RedisServer | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-salts-'));
  if (hasTool('redis-server')) redis = await startRedis();
});
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

const STORES: Record<string, (name: string) => Promise<FlowStore>> = {
  SQLite: (name) => createSqliteStore({ path: join(folder, `${name}.db`) }),
  Redis: (name) => createRedisStore({ url: redis!.url, prefix: name }),
};

async function serving(store: FlowStore) {
  const identify = ({ headers }: { headers: Json }) => String(headers['x-user']);
  const server = createServer({ name: 'salts', version: '1', log: createLog({ level: 'silent' }), identify });
  serveFlows(server, [city], { store });
  const { url } = await server.listen({ port: 0 });
  const ask = async (user: string, method: string, params: Json) => {
    const { body, headers } = modern(method, params);
    return (await send(url, { body, headers: { ...headers, 'x-user': user } })).json;
  };
  return {
    start: async (user: string) => (await ask(user, 'interaction.start', { toolName: 'city' })).result!.sessionId,
    state: (user: string, sessionId: unknown) => ask(user, 'interaction.getState', { sessionId }),
    answer: (user: string, sessionId: unknown) =>
      ask(user, 'interaction.respond', { sessionId, promptId: 'city~1', response: { value: 'Oslo' } }),
    async close() {
      await server.close();
      await store.close();
    },
  };
}

async function ownersIn(store: FlowStore): Promise<string[]> {
  const owners: string[] = [];
  for await (const page of store.browse!()) owners.push(...page.map(({ header }) => header.principal));
  return owners;
}

describe.each(Object.keys(STORES))('in %s', (name) => {
  const has = name !== 'Redis' || hasTool('redis-server');
  test.skipIf(!has)('the hash of a user is another one in each store, and finds its sessions again', async () => {
    const open = STORES[name]!;
    const [first, second] = [await serving(await open('first')), await serving(await open('second'))];
    const id = await first.start(ADA);
    await second.start(ADA);
    await Promise.all([first.close(), second.close()]);
    const [one, other] = [await open('first'), await open('second')];
    const owners = [...(await ownersIn(one)), ...(await ownersIn(other))];
    expect(owners).toHaveLength(2);
    expect(new Set([...owners, toOwner(ADA)]).size).toBe(3);
    expect(owners.join()).not.toContain(ADA);
    // Its operator finds it by the name.
    expect((await findSessions(one, { principal: ADA }, 10)).fitting).toBe(1);
    expect((await findSessions(one, { principal: 'bob' }, 10)).fitting).toBe(0);
    await other.close();
    const again = await serving(one);
    expect((await again.state('bob', id)).error?.code).toBe(-31001);
    expect((await again.answer('bob', id)).error?.code).toBe(-31001);
    expect((await again.state(ADA, id)).result).toMatchObject({ state: 'waiting_user' });
    expect((await again.answer(ADA, id)).result).toMatchObject({ accepted: true });
    await again.close();
  });
});
