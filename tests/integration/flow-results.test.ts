// What a session came to is not lost with the process that brought it there: killed after the end, or in the middle of the work, over
// real sockets and the stores that processes share.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { startRedis } from '../helpers/redis-server.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { hasTool } from '../helpers/tools.ts';
import { until } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });
const folder = mkdtempSync(join(tmpdir(), 'parley-results-'));
let redis: Awaited<ReturnType<typeof startRedis>> | undefined;

beforeAll(async () => {
  if (hasTool('redis-server')) redis = await startRedis();
});
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

const PLACES: Record<string, () => object> = {
  SQLite: () => ({ sqlite: { path: join(folder, 'flows.db') } }),
  ...(hasTool('redis-server') && { Redis: () => ({ redis: { url: redis!.url } }) }),
};

const client = async ({ url }: Pick<HttpFixture, 'url'>, user = 'ada') => {
  const { wire, socket } = await socketWire(Number(new URL(url).port), { 'x-user': user });
  await wire.initialize();
  const completed = (count = 1) =>
    until('the end', () => {
      const told = wire.messages.filter(({ method }) => method === 'interaction.complete');
      return told.length >= count ? told.at(-1) : undefined;
    });
  return { wire, socket, completed };
};

describe.each(Object.keys(PLACES))('in %s', (place) => {
  const start = () => startHttp(fixture('keeps-results', [JSON.stringify(PLACES[place]!())]));
  const answer = (sessionId: unknown) => ({ sessionId, promptId: 'city~1', response: { value: 'Oslo' } });

  test('the result is there after a kill, until its client has acknowledged it', async () => {
    const first = await start();
    const before = await client(first);
    const { result } = await before.wire.request('interaction.start', { toolName: 'order' });
    const { sessionId } = result!;
    await before.wire.request('interaction.respond', answer(sessionId));
    await before.completed(); // and it does not answer that
    await first.stop();

    const second = await start();
    const after = await client(second);
    const state = async () => (await after.wire.request('interaction.getState', { sessionId })).result;
    const kept = { state: 'completed', result: { success: true, data: { city: 'Oslo' } } };
    expect(await state()).toMatchObject(kept);
    expect((await after.wire.request('interaction.respond', answer(sessionId))).result).toMatchObject({
      accepted: true,
    });
    const told = await after.completed();
    expect(told.params).toMatchObject({ sessionId, result: kept.result });
    const stranger = await client(second, 'eve');
    expect((await stranger.wire.request('interaction.getState', { sessionId })).error?.code).toBe(-32001);
    after.wire.write({ jsonrpc: '2.0', id: told.id, result: { success: true, finalResult: {} } });
    await until('it is forgotten', async () => !('result' in (await state())!));
    expect(await state()).toMatchObject({ state: 'completed' });
    await second.stop();
  });

  test('a client that comes back after a kill is told what the next process has made of the work', async () => {
    const first = await start();
    const before = await client(first);
    const { result } = await before.wire.request('interaction.start', { toolName: 'work' });
    const { sessionId } = result!;
    expect((await before.wire.request('interaction.respond', answer(sessionId))).result).toMatchObject({
      accepted: true,
    });
    await first.stop();
    const second = await start();
    const after = await client(second);
    await after.wire.request('interaction.getState', { sessionId });
    expect((await after.completed()).params).toMatchObject({ result: { success: true, data: { city: 'Oslo' } } });
    await second.stop();
  });

  test('a start that is sent again is the same session, for its own user alone', async () => {
    const server = await start();
    const [ada, again, eve] = [await client(server), await client(server), await client(server, 'eve')];
    const params = { toolName: 'order', _meta: { 'mcp-parley/start-id': '6f0d4a5e-start-id' } };
    const ids = await Promise.all(
      [ada, again, eve].map(async ({ wire }) => (await wire.request('interaction.start', params)).result?.sessionId),
    );
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
    const refused = await ada.wire.request('interaction.start', { ...params, _meta: { 'mcp-parley/start-id': 'x' } });
    expect(refused.error?.code).toBe(-32602);
    await server.stop();
  });
});

test('clients behind one gateway do not share a start id', async () => {
  const server = await startHttp(
    fixture('keeps-results', [JSON.stringify({ sqlite: { path: join(folder, 'shared.db') } })]),
  );
  const gateway = createGateway({ servers: { flows: { url: server.url } }, log: QUIET, startMs: 60_000 });
  const { url } = await gateway.listen({ port: 0 });
  const params = { toolName: 'order', _meta: { 'mcp-parley/start-id': '6f0d4a5e-start-id' } };
  const [one, other] = [await client({ url }), await client({ url })];
  const mine = await one.wire.request('interaction.start', params);
  const again = await one.wire.request('interaction.start', params);
  await other.wire.request('interaction.start', params);
  await one.wire.request('interaction.respond', {
    sessionId: mine.result?.sessionId,
    promptId: 'city~1',
    response: { value: 'Oslo' },
  });
  await one.completed();
  expect(again.result).toMatchObject({ initialPrompt: { promptId: 'city~1' } });
  const theirs = await other.wire.request('interaction.start', params);
  expect(theirs.result).toMatchObject({ initialPrompt: { promptId: 'city~1' } });
  await gateway.close();
  await server.stop();
});
