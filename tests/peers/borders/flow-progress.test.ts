// Flow steps that report progress: official clients get it while the step runs, and so does a client of MCP Flow.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog, createServer } from '../../../src/_entries/index.ts';
import type { ParleyServer } from '../../../src/_entries/index.ts';
import { flow, serveFlows } from '../../../src/_entries/flow.ts';
import { socketWire } from '../../helpers/line-wire.ts';
import { until } from '../../helpers/until.ts';

let goOn = (): void => {};
const copy = flow({ name: 'copy' }, async (ask) =>
  ask.step(
    'copy',
    async (step) => {
      await new Promise((resolve) => setImmediate(resolve));
      // The second does not go on, and is not told.
      for (const page of [1, 1, 2]) step.progress(page, 3, `Page ${page}`);
      await new Promise<void>((resolve) => (goOn = resolve));
      step.progress(3, 3, 'Page 3');
      return 'copied';
    },
    { effect: 'retry' },
  ),
);

const named = flow({ name: 'named' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?' });
  return ask.step('copy', async (step) => {
    step.progress(1, 2, `To ${city}`);
    await new Promise<void>((resolve) => (goOn = resolve));
    step.progress(2, 2, 'There');
    return `copied to ${city}`;
  });
});

let server: ParleyServer;
let url: string;
beforeAll(async () => {
  server = createServer({ name: 'copies', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, [copy, named]);
  ({ url } = await server.listen({ port: 0 }));
});
afterAll(() => server.close());

test('an SDK v1 client receives growing progress while a step of a flow runs', async () => {
  const client = new Client({ name: 'borders', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const told: number[] = [];
  const onprogress = ({ progress }: { progress: number }) => void told.push(progress);
  const called = client.callTool({ name: 'copy', arguments: {} }, undefined, { onprogress });
  await until('the second page', () => told.length === 2);
  goOn();
  expect(await called).toMatchObject({ content: [{ text: 'copied' }] });
  expect(told).toEqual([1, 2, 3]);
  await client.close();
});

test('an SDK v2 client of 2026-07-28 receives progress while its call is resumed after a question', async () => {
  const client = new ClientV2(
    { name: 'borders', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { city: 'Oslo' } }));
  await client.connect(new TransportV2(new URL(url)));
  const told: unknown[] = [];
  const onprogress = ({ progress, message = '' }: { progress: number; message?: string }) => {
    if (message.startsWith('Fulfilling input required')) return; // the SDK's own
    told.push([progress, message]);
    if (progress === 1) goOn();
  };
  const called = await client.callTool({ name: 'named', arguments: {} }, { onprogress, timeout: 60_000 });
  expect(called).toMatchObject({ content: [{ text: 'copied to Oslo' }] });
  expect(told).toEqual([
    [1, 'To Oslo'],
    [2, 'There'],
  ]);
  await client.close();
});

test('a client of MCP Flow receives progress by interaction.continue while a step runs', async () => {
  const { wire, socket } = await socketWire(Number(new URL(url).port));
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName: 'copy' });
  const steps = () =>
    wire.messages.flatMap(({ method, params }) => (method === 'interaction.continue' ? [params] : []));
  await until('the second page', () => steps().length === 2);
  goOn();
  await wire.find('the end', ({ method }) => method === 'interaction.complete');
  const of = (current: number) => ({
    sessionId: result?.sessionId as string,
    progress: { current, total: 3, message: `Page ${current}` },
  });
  expect(steps()).toEqual([of(1), of(2), of(3)]);
  socket.close();
});
