// Stateless callers without a login are one owner in every store. Each network address has its own number of open sessions all the same, so
// nobody takes the room of the others, and a session stays with the one who holds its id.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { createRedisStore, createSqliteStore, flow, serveFlows } from 'mcp-parley/flow';
import type { FlowStore } from 'mcp-parley/flow';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { elicits, modern } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';

const ATTACKER = '127.0.0.2';
const POLITE = '127.0.0.3';
const MOST = 3;
const ACCEPTED = { result: { accepted: true } };
const city = flow({ name: 'city' }, async (ask) => `to ${await ask.text('city')}`);

let folder: string;
let redis: RedisServer | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-shares-'));
  if (hasTool('redis-server')) redis = await startRedis();
});
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

const STORES: Record<string, () => Promise<FlowStore | undefined>> = {
  memory: async () => undefined,
  SQLite: () => createSqliteStore({ path: join(folder, 'flows.db') }),
  Redis: () => createRedisStore({ url: redis!.url }),
};

async function serving(store: FlowStore | undefined) {
  const server = createServer({ name: 'shares', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, [city], { limits: { sessionsPerPrincipal: MOST }, ...(store && { store }) });
  const { url } = await server.listen({ port: 0 });
  const ask = async (from: string, method: string, params: Json) =>
    (await send(url, { ...modern(method, params, elicits), from })).json;
  return {
    ask,
    start: (from: string) => ask(from, 'interaction.start', { toolName: 'city' }),
    answer: (from: string, sessionId: unknown) =>
      ask(from, 'interaction.respond', { sessionId, promptId: 'city~1', response: { value: 'Oslo' } }),
    async close() {
      await server.close();
      await store?.close();
    },
  };
}

describe.each(Object.keys(STORES))('in %s', (name) => {
  test.skipIf(name === 'Redis' && !hasTool('redis-server'))(
    'one address cannot take the sessions of others, and a restart changes nothing',
    async () => {
      let server = await serving(await STORES[name]!());
      const held: unknown[] = [];
      for (let at = 0; at < MOST; at++) held.push((await server.start(ATTACKER)).result?.sessionId);
      expect((await server.start(ATTACKER)).error?.data).toMatchObject({ limit: 'sessionsPerPrincipal' });
      const { result } = await server.start(POLITE);
      expect(result?.sessionId).toEqual(expect.any(String));
      if (name !== 'memory') {
        await server.close();
        server = await serving(await STORES[name]!());
        expect((await server.start(ATTACKER)).error?.data).toMatchObject({ limit: 'sessionsPerPrincipal' });
      }
      // Its holder may come from another network by now.
      expect(await server.answer('127.0.0.4', result!.sessionId)).toMatchObject(ACCEPTED);
      for (const sessionId of held) {
        expect(await server.answer(ATTACKER, sessionId)).toMatchObject(ACCEPTED);
      }
      for (let at = 0; at < MOST; at++) expect((await server.start(ATTACKER)).error).toBeUndefined();
      expect((await server.start(ATTACKER)).error?.data).toMatchObject({ limit: 'sessionsPerPrincipal' });
      await server.close();
    },
  );
});
