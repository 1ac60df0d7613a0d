// Stateless callers without a login are one owner in every store. Each network address has its own number of open sessions all the same, so
// nobody takes the room of the others, and a session stays with the one who holds its id. A caller with a session of its own (handshake) is an
// owner of its own; all of them at one address have a share of the room, however many sessions they open.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { createRedisStore, createSqliteStore, flow, serveFlows } from 'mcp-parley/flow';
import type { FlowStore } from 'mcp-parley/flow';
import { send } from '../helpers/http-wire.ts';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { elicits, modern, rpc } from '../helpers/mcp-http.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

const ATTACKER = '127.0.0.2';
const POLITE = '127.0.0.3';
const MOST = 3;
/** Of the handshake sessions of one address, and in all. */
const NETWORK = 300;
const ALL = 400;
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
  serveFlows(server, [city], {
    limits: { sessionsPerPrincipal: MOST, sessionsPerNetwork: NETWORK, sessions: ALL },
    ...(store && { store }),
  });
  const { url } = await server.listen({ port: 0 });
  /** Opens a session with a handshake, as its own caller. */
  const handshake = async (from: string) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { headers } = await send(url, { body: rpc('initialize', params), from });
    const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
    await send(url, { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers: session, from });
    return {
      start: async () =>
        (await send(url, { body: rpc('interaction.start', { toolName: 'city' }), headers: session, from })).json,
      end: () => send(url, { method: 'DELETE', headers: session, from }),
    };
  };
  const ask = async (from: string, method: string, params: Json) =>
    (await send(url, { ...modern(method, params, elicits), from })).json;
  return {
    ask,
    handshake,
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

  test.skipIf(name === 'Redis' && !hasTool('redis-server'))(
    'one address cannot take all sessions with hundreds of handshakes, and gets its own room back',
    async () => {
      const server = await serving(await STORES[name]!());
      const callers = [];
      const starts: Answer[] = [];
      for (let at = 0; at < ALL / 2; at++) {
        const caller = await server.handshake(ATTACKER);
        callers.push(caller);
        for (let more = 0; more < MOST; more++) starts.push(await caller.start());
      }
      const refused = starts.filter(({ error }) => error);
      expect(starts.length - refused.length).toBe(NETWORK);
      expect(refused[0]).toMatchObject({ error: { code: -32000, data: { limit: 'sessionsPerNetwork' } } });
      const polite = await server.handshake(POLITE);
      for (let at = 0; at < MOST; at++) expect((await polite.start()).error).toBeUndefined();
      expect((await polite.start()).error?.data).toMatchObject({ limit: 'sessionsPerPrincipal' });
      expect((await server.start(POLITE)).error).toBeUndefined();
      // What ends with its caller gives room again.
      const [first, last] = [callers[0]!, callers.at(-1)!];
      await first.end();
      await until('there is room', async () => (await last.start()).error === undefined);
      await server.close();
    },
  );
});
