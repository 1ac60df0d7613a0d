// Steps of a flow that say how far they are: official clients that called it are told while the step runs, and so is one that speaks MCP Flow.
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

let server: ParleyServer;
let url: string;
beforeAll(async () => {
  server = createServer({ name: 'copies', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, [copy]);
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
