// A session that another process has ended or continued: the client learns it from the process that it is connected to.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { createSqliteStore, flow, serveFlows } from 'mcp-parley/flow';
import type { Ask } from 'mcp-parley/flow';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { socketWire } from '../helpers/line-wire.ts';
import type { Wire } from '../helpers/line-wire.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Two processes over one file: the client is connected to one, and `other` is what the other one has. */
async function two(body: (ask: Ask) => Promise<unknown>) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-elsewhere-'));
  closing.push(() => removeFolder(folder));
  const clock = manualClock(Date.now());
  const serving = async () => {
    const store = await createSqliteStore({ path: join(folder, 'flows.db') });
    closing.push(() => store.close());
    const log = createLog({ level: 'silent' });
    const server = createServer({ name: 'trips', version: '1', log, identify: () => 'ada' });
    const trip = flow({ name: 'trip', timeout: '1h', limits: { duration: '2h' } }, body);
    const sessions = serveFlows(server, [trip], { store, clock, sweep: false, keys: ['the key of every process'] });
    const { url } = await server.listen({ port: 0 });
    closing.push(() => server.close());
    return { sessions, url };
  };
  const [{ url }, { sessions: other }] = [await serving(), await serving()];
  const { wire, socket } = await socketWire(Number(new URL(url).port));
  closing.push(() => socket.close());
  await wire.initialize('2025-11-25', { elicitation: {} });
  /** While time passes; a minute of it at most. */
  const told = async (what: string, matches: (message: Wire['messages'][number]) => boolean) => {
    const end = clock.now() + 60_000;
    return until(what, () => {
      if (clock.now() < end) clock.move(1000);
      return wire.messages.find(matches);
    });
  };
  return { wire, other, told };
}

const asking = (ask: Ask) => ask.text('city', { message: 'Where to?' });

test('a client that speaks MCP Flow is told within seconds that it was cancelled, and why', async () => {
  const { wire, other, told } = await two(asking);
  const { sessionId } = (await wire.request('interaction.start', { toolName: 'trip' })).result as { sessionId: string };
  await other.cancel({ principal: 'ada', sessionId, reason: 'Wrong shop' });
  const { params } = await told('the end', ({ method }) => method === 'interaction.ended');
  expect(params).toMatchObject({ sessionId, result: { error: { message: 'trip was cancelled: Wrong shop' } } });
  const ended = wire.messages.filter(({ method }) => method === 'interaction.ended');
  expect(ended).toHaveLength(1);
});

test('a client that speaks MCP Flow is given the result of an answer that another process has taken', async () => {
  const { wire, other, told } = await two(asking);
  const { sessionId } = (await wire.request('interaction.start', { toolName: 'trip' })).result as { sessionId: string };
  await other.answer({ principal: 'ada', sessionId, answers: [{ value: 'Oslo' }] });
  const { params } = await told('the end', ({ method }) => method === 'interaction.complete');
  expect(params).toMatchObject({ sessionId, result: { success: true, data: 'Oslo' } });
});

test('a call is answered within seconds, and its form withdrawn', async () => {
  const { wire, other, told } = await two(asking);
  wire.write({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'trip', arguments: {} } });
  const form = await wire.find('the form', ({ method }) => method === 'elicitation/create');
  const [open] = await other.list('ada');
  await other.cancel({ principal: 'ada', sessionId: open!.id, reason: 'Wrong shop' });
  const { result } = await told('the answer', ({ id, method }) => id === 7 && method === undefined);
  expect(result).toMatchObject({ isError: true, content: [{ text: 'trip was cancelled: Wrong shop' }] });
  const withdrawn = ({ method, params }: Wire['messages'][number]) =>
    method === 'notifications/cancelled' && params!['requestId'] === form.id;
  await wire.find('the withdrawal', withdrawn);
});

const askingTwice = async (ask: Ask) => {
  const city = await ask.text('city', { message: 'Where to?', alone: true });
  return `${city}, ${await ask.text('day', { message: 'When?', alone: true })}`;
};

test('a client that speaks MCP Flow is asked the next question, once, when another process has taken an answer', async () => {
  const { wire, other, told } = await two(askingTwice);
  const { sessionId } = (await wire.request('interaction.start', { toolName: 'trip' })).result as { sessionId: string };
  await other.answer({ principal: 'ada', sessionId, answers: [{ value: 'Oslo' }] });
  const isNext = ({ params }: Wire['messages'][number]) =>
    (params?.['prompt'] as { promptId?: string } | undefined)?.promptId === 'day~1';
  const { id, params } = await told('the next question', isNext);
  expect(params).toMatchObject({ sessionId, prompt: { message: 'When?' } });
  const withdrawn = wire.messages.find(({ method }) => method === 'interaction.withdrawn');
  expect(withdrawn?.params).toMatchObject({ sessionId, promptId: 'city~1', reason: 'moved' });
  wire.write({ jsonrpc: '2.0', id: id!, error: { code: -32603, message: 'It cannot be shown' } });
  await other.answer({ principal: 'ada', sessionId, answers: [{ value: 'Monday' }] });
  const end = await told('the end', ({ method }) => method === 'interaction.complete');
  expect(end.params).toMatchObject({ result: { data: 'Oslo, Monday' } });
  expect(wire.messages.filter(isNext)).toHaveLength(1);
});
