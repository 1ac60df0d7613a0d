// A session is its owner's alone, over real wires: to anybody else its name is that of no session at all, nobody else is told what
// happens in it, and it ends with a connection that nobody could come back to.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { flow, memoryStore, serveFlows } from 'mcp-parley/flow';
import { send } from '../helpers/http-wire.ts';
import type { Answer, Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { modern, openSession } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });
let goOn = (): void => {};
const undone: string[] = [];
const work = flow({ name: 'work' }, async (ask) => {
  await ask.text('first', { message: 'First?' });
  await ask.step('book', () => 'booked', { effect: 'retry', undo: (what) => void undone.push(what) });
  await ask.text('second', { message: 'Second?' });
  await ask.step('wait', () => new Promise<void>((resolve) => (goOn = resolve)), { effect: 'retry' });
  return 'the result';
});
const store = memoryStore();

let server: ParleyServer;
let url: string;
let port: number;

beforeAll(async () => {
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  server = createServer({ name: 'owners', version: '1', log: QUIET, identify });
  serveFlows(server, [work], { store });
  ({ url } = await server.listen({ port: 0 }));
  port = Number(new URL(url).port);
});
afterAll(() => server.close());

/** Whatever can be done with a session by its name. */
const DEEDS: Record<string, Json> = {
  'interaction.respond': { response: { value: 'x' } },
  'interaction.continue': {},
  'interaction.complete': { result: { success: true, data: {} } },
  'interaction.cancel': {},
  'interaction.getState': {},
  'interaction.back': {},
  'interaction.edit': { key: 'first', value: 'y' },
  'interaction.extend': {},
};

async function client(headers: Record<string, string> = {}) {
  const { wire, socket } = await socketWire(port, headers);
  await wire.initialize();
  const start = async () => (await wire.request('interaction.start', { toolName: 'work' })).result?.sessionId as string;
  const answer = (sessionId: string, value: string) =>
    wire.request('interaction.respond', { sessionId, response: { value } });
  return { wire, socket, start, answer };
}

const headerOf = async (sessionId: string) => (await store.load(sessionId))?.header;
const unnamed = (answer: Answer, id: string) => JSON.stringify(answer.error).replaceAll(id, 'ID');

test.each(Object.entries(DEEDS))('%s of another’s session is like that of none', async (method, params) => {
  const alice = await client({ 'x-user': 'alice' });
  const sessionId = await alice.start();
  const absent = `session_${'A'.repeat(22)}`;
  const before = await headerOf(sessionId);
  const strangers = {
    'another user': (id: string) => as('bob', method, { sessionId: id, ...params }),
    'another connection': (id: string) => nobody.request(method, { sessionId: id, ...params }),
    'the other era': async (id: string) =>
      (await send(url, withUser('bob', modern(method, { sessionId: id, ...params })))).json,
  };
  const nobody = (await client()).wire;
  for (const [who, does] of Object.entries(strangers)) {
    const [foreign, unknown] = [await does(sessionId), await does(absent)];
    expect(foreign.error?.code, who).toBe(who === 'the other era' ? -31001 : -32001);
    expect(unnamed(foreign, sessionId), who).toBe(unnamed(unknown, absent));
  }
  expect(await headerOf(sessionId)).toEqual(before);
  alice.socket.close();
});

test('no other client gets its messages, whatever it tries', async () => {
  const [alice, mallory] = [await client(), await client()];
  const sessionId = await alice.start();
  await alice.answer(sessionId, 'x');
  await alice.wire.find('the second question', ({ method }) => method === 'interaction.prompt');
  await alice.answer(sessionId, 'y');
  for (const [method, params] of Object.entries(DEEDS)) await mallory.wire.request(method, { sessionId, ...params });
  goOn();
  const told = await alice.wire.find('the end', ({ method }) => method === 'interaction.complete');
  expect(told.params).toMatchObject({ sessionId, result: { data: 'the result' } });
  expect(mallory.wire.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  alice.socket.close();
  mallory.socket.close();
});

test('who ends it himself is not told that it has ended', async () => {
  const alice = await client();
  const sessionId = await alice.start();
  await alice.answer(sessionId, 'x');
  await alice.wire.find('the second question', ({ method }) => method === 'interaction.prompt');
  await alice.answer(sessionId, 'y');
  const complete = { sessionId, result: { success: true, data: { mine: 1 } } };
  const { result } = await alice.wire.request('interaction.complete', complete);
  expect(result).toEqual({ success: true, finalResult: { mine: 1 } });
  await alice.wire.request('interaction.getState', { sessionId });
  expect(alice.wire.messages.filter(({ method }) => method === 'interaction.complete')).toEqual([]);
  alice.socket.close();
});

test('the session of an anonymous owner ends with its connection, and its effects are undone', async () => {
  const anonymous = await client();
  const sessionId = await anonymous.start();
  await anonymous.answer(sessionId, 'x');
  await anonymous.wire.find('the second question', ({ method }) => method === 'interaction.prompt');
  undone.length = 0;
  anonymous.socket.terminate();
  await until('the session to end', async () => (await headerOf(sessionId))?.state === 'cancelled');
  expect(undone).toEqual(['booked']);

  const session = await openSession(url);
  const other = (await session.request('interaction.start', { toolName: 'work' })).json.result?.sessionId as string;
  await session.delete();
  await until('the session to end', async () => (await headerOf(other))?.state === 'cancelled');
});

test('it waits for an owner who can come back', async () => {
  const alice = await client({ 'x-user': 'alice' });
  const sessionId = await alice.start();
  alice.socket.terminate();
  const again = await client({ 'x-user': 'alice' });
  const { result } = await again.wire.request('interaction.getState', { sessionId });
  expect(result).toMatchObject({ state: 'waiting_user', currentPrompt: { message: 'First?' } });
  expect((await again.answer(sessionId, 'x')).result).toMatchObject({ accepted: true });
  await again.wire.find(
    'the second question, told to the client that is there now',
    ({ method }) => method === 'interaction.prompt',
  );
  again.socket.close();
});

const as = async (user: string, method: string, params: Json): Promise<Answer> => {
  const session = await openSession(url, { headers: { 'x-user': user } });
  return (await session.request(method, params)).json;
};

function withUser(user: string, { body, headers }: ReturnType<typeof modern>) {
  return { body, headers: { ...headers, 'x-user': user } };
}
