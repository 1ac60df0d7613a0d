// A secret looked for everywhere it must not be: in the files of SQLite and Redis, in tokens, in every line of the log, in everything
// that is said to a client or a model. In the session at work, and in what is left of it when it has ended.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { createRedisStore, createSqliteStore, flow, memoryStore, serveFlows } from 'mcp-parley/flow';
import type { FlowStore, ServeFlowsOptions } from 'mcp-parley/flow';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { connected } from '../helpers/fixture-server.ts';
import type { Answer } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { Home } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import { hasTool } from '../helpers/tools.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const MARK = 'hunter2';
const revealed: string[] = [];
const login = flow({ name: 'login', description: 'Logs in' }, async (ask) => {
  await ask.text('who', { message: 'Who?', alone: true });
  const secret = await ask.text('password', { message: 'Password?', secret: true, min: 10, alone: true });
  await ask.step('use', async (step) => void revealed.push(await step.reveal(secret)), { effect: 'retry' });
  await ask.text('after', { message: `Is it ${JSON.stringify(secret)}?`, alone: true });
  return { secret };
});

interface Place {
  options: ServeFlowsOptions;
  /** All that it has written, wherever that is. */
  written(): Promise<string>;
  end(): Promise<void>;
}

const PLACES: Record<string, () => Promise<Place>> = {
  async memory() {
    const store = recorded(memoryStore());
    return { options: { store }, written: async () => JSON.stringify(store.seen), end: async () => {} };
  },
  async 'a SQLite file'() {
    const folder = mkdtempSync(join(home.path, 'sqlite-'));
    const store = await createSqliteStore({ path: join(folder, 'flows.db') });
    const files = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'));
    return { options: { store }, written: async () => files().join(), end: () => store.close() };
  },
  async Redis() {
    const folder = mkdtempSync(join(home.path, 'redis-'));
    const redis = await startRedis({ dir: folder });
    const store = await createRedisStore({ url: redis.url });
    const client = new Redis(redis.url);
    const files = (at: string): string[] =>
      readdirSync(at, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? files(join(at, entry.name)) : [readFileSync(join(at, entry.name)).toString('latin1')],
      );
    return {
      options: { store },
      async written() {
        await client.save();
        return files(folder).join();
      },
      async end() {
        await store.close();
        client.disconnect();
        await redis[Symbol.asyncDispose]();
      },
    };
  },
  async 'signed tokens'() {
    const store = recorded(memoryStore());
    const options: ServeFlowsOptions = { store, tokens: 'signed', keys: ['the key of this test'] };
    return { options, written: async () => JSON.stringify(store.seen), end: async () => {} };
  },
};

describe.each(Object.keys(PLACES))('with %s', (name) => {
  const needsRedis = name === 'Redis' && !hasTool('redis-server');

  test.skipIf(needsRedis)('it is in the step, and nowhere else', async () => {
    const place = await PLACES[name]!();
    const { options } = place;
    const lines: string[] = [];
    const log = createLog({ level: 'debug', write: (line) => void lines.push(line) });
    const server = createServer({ name: 's', version: '1', log });
    serveFlows(server, [login], options);
    const { url } = await server.listen({ port: 0 });
    const { wire, socket } = await socketWire(Number(new URL(url).port));
    await wire.initialize();
    let reference: Record<string, unknown> = {};
    const ask = async (method: string, params: object) => {
      const { result, error } = await wire.request(method, { ...reference, ...params });
      if (result?.token !== undefined) reference = { ...reference, token: result.token };
      return { result, error };
    };
    const answer = (value: string) => ask('interaction.respond', { response: { value } });

    const initialParams = { password: `${MARK}-as-an-argument` };
    const { result } = await ask('interaction.start', { toolName: 'login', initialParams });
    reference = { sessionId: result!.sessionId, ...(result!.token !== undefined && { token: result!.token }) };
    await answer('Ada');
    await answer(MARK);
    revealed.length = 0;
    expect((await answer(`${MARK}-as-an-answer`)).result).toMatchObject({ accepted: true });
    await expect.poll(() => revealed).toEqual([`${MARK}-as-an-answer`]);
    await ask('interaction.edit', { key: 'password', value: `${MARK}-as-a-change` });
    await ask('interaction.edit', { key: 'who', value: 'Bob' });
    await ask('interaction.getState', {});
    // What is not a secret is found: it was looked for in the right place.
    if (!options.tokens) expect(await place.written()).toContain('Ada');
    expect(await place.written(), 'at work').not.toContain(MARK);
    const cancelled = await ask('interaction.cancel', { reason: 'enough' });
    expect(cancelled.error ?? cancelled.result).toMatchObject({ cancelled: true });
    expect(await place.written(), 'ended').not.toContain(MARK);

    expect(await byModel(url), 'the words for a model').not.toContain(MARK);
    expect(JSON.stringify(wire.messages.map(clear)), 'the wire').not.toContain(MARK);
    expect(lines.join(''), 'the log').not.toContain(MARK);
    expect(lines.length).toBeGreaterThan(0);
    socket.close();
    await server.close();
    await place.end();
  });
});

/** Everything that a client is told which can only pass words on, while its user types the secret into the page. */
async function byModel(url: string): Promise<string> {
  await using client = await connected(url, { revision: '2025-11-25' });
  const said: unknown[] = [];
  const call = async (tool: string, args: Record<string, unknown>) => {
    const result = await client.callTool(tool, args);
    said.push(result);
    return JSON.stringify(result);
  };
  const first = await call('login', { who: 'Ada', password: `${MARK}-as-an-argument` });
  const handle = /handle[^A-Za-z0-9]+([\w-]{10,})/.exec(first)![1]!;
  const link = /https?:\/\/[^\s"\\)]+/.exec(first)![0];
  await call('parley_answer', { handle, answer: { password: `${MARK}-by-the-model` } });
  await new FakeBrowser().fill(link, { 'q0.0': `${MARK}-on-the-page` });
  await call('parley_answer', { handle });
  return JSON.stringify(said);
}

/** What is only encoded is read. */
function clear(message: Answer): unknown {
  const token = message.result?.token;
  return typeof token === 'string' ? [message, Buffer.from(token, 'base64').toString()] : message;
}

function recorded(store: FlowStore): FlowStore & { seen: unknown[] } {
  const seen: unknown[] = [];
  const methods = [
    'create',
    'load',
    'commit',
    'lease',
    'release',
    'due',
    'spend',
    'putBlob',
    'getBlob',
    'list',
    'drop',
    'close',
  ];
  const delegated = methods.map((name) => [
    name,
    (...args: unknown[]) => {
      seen.push(args.map((one) => (one instanceof Uint8Array ? Buffer.from(one).toString('latin1') : one)));
      return (store[name as 'load'] as (...given: unknown[]) => unknown).apply(store, args);
    },
  ]);
  return { durable: store.durable, ...Object.fromEntries(delegated), seen } as FlowStore & { seen: unknown[] };
}
