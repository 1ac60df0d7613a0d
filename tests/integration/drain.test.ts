// How a gateway ends that is stopped while it works: SIGTERM finishes the calls of HTTP clients first.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStream, send } from '../helpers/http-wire.ts';
import type { Json, Reply } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { ask, callModern, elicits, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { homesOfTests } from '../helpers/parley.ts';
import type { Parley } from '../helpers/parley.ts';
import { startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
/** Outlives the gateways, and all their clients call the same process. */
let storm: ServerProcess;
beforeAll(async () => {
  storm = await startStorm();
});
afterAll(() => storm[Symbol.asyncDispose]());

const LONG = { drainMs: 50_000 };

async function serve(limits: object): Promise<{ parley: Parley; url: string }> {
  const home = newHome();
  const config = { mcpServers: { storm: { url: storm.url } }, names: 'on-collision', listen: { port: 0 }, limits };
  home.write('parley.config.json', config);
  const parley = start(home, ['serve', '--open']);
  return { parley, url: await parley.url() };
}

const running = (url: string, key: string) =>
  until(`${key} to run`, async () => (await ask(url, 'state', { key })) === 'running');
const readiness = (url: string): Promise<Reply> => send(url.replace(/mcp$/, 'readyz'), { method: 'GET' });
const stopping = (url: string) => until('/readyz to be red', async () => (await readiness(url)).status === 503);
const stopped = { error: { data: { stopped: true } } };

describe('a gateway that gets SIGTERM', () => {
  test('is not ready any more, finishes calls of both eras, serves new ones meanwhile, and then ends', async () => {
    const { parley, url } = await serve(LONG);
    const session = await openSession(url);
    const calls = [callModern(url, 'wait', { key: 'a' }), session.call('wait', { key: 'b' })];
    await running(url, 'a');
    await running(url, 'b');
    parley.child.kill('SIGTERM');
    await stopping(url);
    expect((await readiness(url)).json).toEqual({ status: 'stopping' });
    const meanwhile = await callModern(url, 'echo', { text: 'still here' });
    expect(meanwhile.headers.connection).toBe('close');
    expect(meanwhile.json.result!.content![0]!.text).toBe('still here');
    for (const key of ['a', 'b']) await ask(url, 'release', { key });
    const texts = (await Promise.all(calls)).map(({ json }) => json.result!.content![0]!.text);
    expect(texts).toEqual(['waited for a', 'waited for b']);
    expect(await parley.ended()).toBe(0);
  });

  test('still takes the answers to open questions, of both eras', async () => {
    const { parley, url } = await serve(LONG);
    const session = await openSession(url, { capabilities: { elicitation: {} } });
    const handshake = await session.callStream('ask', {});
    await handshake.until('the question', ({ messages }) =>
      messages.some(({ method }) => method === 'elicitation/create'),
    );
    const stateless = (more: Json) => send(url, modern('tools/call', { name: 'ask', arguments: {}, ...more }, elicits));
    const { requestState, inputRequests } = (await stateless({})).json.result as {
      requestState: string;
      inputRequests: Json;
    };
    parley.child.kill('SIGTERM');
    await stopping(url);
    const answer = { action: 'accept', content: { name: 'Ann' } };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]));
    const { json } = await stateless({ requestState, inputResponses });
    expect(json.result!.content![0]!.text).toBe('accept Ann');
    const { id } = handshake.messages.find(({ method }) => method === 'elicitation/create')!;
    expect((await session.post({ jsonrpc: '2.0', id, result: answer })).status).toBe(202);
    await handshake.untilEnd();
    expect(handshake.messages.at(-1)!.result!.content![0]!.text).toBe('accept Ann');
    expect(await parley.ended()).toBe(0);
  });

  test('ends the streams of clients that only listen, and says when to come back', async () => {
    const { parley, url } = await serve(LONG);
    const session = await openSession(url);
    const stream = await session.stream();
    const listening = await openStream(url, {
      method: 'POST',
      ...modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    });
    const old = await openStream(url.replace(/mcp$/, 'sse'));
    parley.child.kill('SIGTERM');
    for (const one of [stream, listening, old]) await one.untilEnd();
    expect(Number(stream.events.at(-1)!.retry)).toBeGreaterThan(0);
    expect(listening.messages.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    expect(await parley.ended()).toBe(0);
  });

  test('answers calls that are left after `drainMs` with an error, on every transport', async () => {
    const { parley, url } = await serve({ drainMs: 1 });
    const session = await openSession(url);
    const calls = [callModern(url, 'wait', { key: 'plain' }), session.call('wait', { key: 'session' })];
    const stream = await session.callStream('wait', { key: 'streamed' }, 'streamed');
    const { wire, socket } = await socketWire(Number(new URL(url).port));
    const code = new Promise((resolve) => socket.once('close', resolve));
    await wire.initialize();
    const overSocket = wire.call('wait', { key: 'socket' });
    const sse = await openStream(url.replace(/mcp$/, 'sse'));
    await sse.until('its address', ({ events }) => events.length > 0);
    const at = new URL(sse.events[0]!.data!, url).href;
    const opening = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
    await send(at, { body: rpc('initialize', opening, 'opening') });
    await sse.until('the answer to initialize', ({ messages }) => messages.length > 0);
    await send(at, { body: rpc('tools/call', { name: 'wait', arguments: { key: 'sse' } }, 'waiting') });
    for (const key of ['plain', 'session', 'streamed', 'socket', 'sse']) await running(url, key);
    parley.child.kill('SIGTERM');
    for (const reply of await Promise.all(calls)) expect(reply.json).toMatchObject(stopped);
    await stream.untilEnd();
    expect(stream.messages.at(-1)).toMatchObject({ id: 'streamed', ...stopped });
    await sse.untilEnd();
    expect(sse.messages.at(-1)).toMatchObject({ id: 'waiting', ...stopped });
    expect(await overSocket).toMatchObject(stopped);
    expect(await code).toBe(1012);
    expect(await parley.ended()).toBe(0);
  });
});

test('a gateway that is interrupted at the terminal waits for no call', async () => {
  const { parley, url } = await serve(LONG);
  const call = callModern(url, 'wait', { key: 'long' });
  await running(url, 'long');
  parley.child.kill('SIGINT');
  expect((await call).json).toMatchObject(stopped);
  expect(await parley.ended()).toBe(0);
});
