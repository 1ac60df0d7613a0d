// A call whose user has a form open is still alive, and says so to a client that wants progress: official clients give a call up after 60
// seconds of silence.
import { afterEach, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { until } from '../helpers/until.ts';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const STILL_MS = 20_000;

async function office(body: Parameters<typeof flow>[1]) {
  const clock = manualClock();
  const identify = () => 'ada';
  const server = createServer({ name: 'trips', version: '1', log: createLog({ level: 'silent' }), identify });
  serveFlows(server, [flow({ name: 'trip' }, body)], { clock });
  const { url } = await server.listen({ port: 0 });
  closing.push(() => server.close());
  const port = Number(new URL(url).port);
  const client = async () => {
    const { wire, socket } = await socketWire(port);
    closing.push(() => socket.close());
    await wire.initialize('2025-11-25', { elicitation: {} });
    return { wire, socket };
  };
  return { clock, client };
}

const isForm = ({ method }: { method?: unknown }) => method === 'elicitation/create';
const progressOf = ({ messages }: Wire): unknown[] =>
  messages.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);

const called = (id: number, _meta: Json = {}): Json => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'trip', arguments: {}, _meta },
});

async function formOf(wire: Wire, count = 1) {
  await until('the form', () => wire.messages.filter(isForm).length >= count);
  return wire.messages.filter(isForm)[count - 1]!;
}

test('a call with a progress token says every 20 seconds that its form waits, until that is answered', async () => {
  const { clock, client } = await office(async (ask) => {
    ask.progress(1, 2, 'Half of it');
    return ask.text('city', { message: 'Where to?' });
  });
  const { wire } = await client();
  wire.write(called(7, { progressToken: 'p' }));
  const { id } = await formOf(wire);
  const half = { progressToken: 'p', progress: 1, total: 2, message: 'Half of it' };
  expect(progressOf(wire)).toEqual([half]);
  const still = { progressToken: 'p', total: 2, message: 'Waiting for an answer' };
  clock.move(STILL_MS);
  await until('the first sign of life', () => progressOf(wire).length === 2);
  clock.move(STILL_MS);
  await until('the second one', () => progressOf(wire).length === 3);
  expect(progressOf(wire)).toEqual([half, { ...still, progress: 1.001 }, { ...still, progress: 1.002 }]);
  wire.write({ jsonrpc: '2.0', id, result: { action: 'accept', content: { city: 'Oslo' } } });
  expect((await wire.answerTo(7)).result).toMatchObject({ content: [{ text: 'Oslo' }] });
  clock.move(STILL_MS);
  await wire.request('ping');
  expect(progressOf(wire)).toHaveLength(3);
});

test('a call without a progress token gets no progress', async () => {
  const { clock, client } = await office((ask) => ask.text('city', { message: 'Where to?' }));
  const { wire } = await client();
  wire.write(called(7));
  await formOf(wire);
  clock.move(STILL_MS);
  await wire.request('ping');
  expect(progressOf(wire)).toEqual([]);
});

test('the form that offers to continue says so too', async () => {
  const { clock, client } = await office(async (ask) => {
    await ask.text('city', { message: 'Where to?', alone: true });
    return ask.text('hotel', { message: 'Which hotel?', alone: true });
  });
  const before = await client();
  before.wire.write(called(7));
  const { id } = await formOf(before.wire);
  before.wire.write({ jsonrpc: '2.0', id, result: { action: 'accept', content: { city: 'Oslo' } } });
  await formOf(before.wire, 2);
  before.socket.terminate();
  const { wire } = await client();
  wire.write(called(8, { progressToken: 'p' }));
  expect((await formOf(wire)).params!.message).toContain('You started this before');
  clock.move(STILL_MS);
  await until('the sign of life', () => progressOf(wire).length === 1);
  expect(progressOf(wire)).toMatchObject([{ progress: 0, message: 'Waiting for an answer' }]);
});
