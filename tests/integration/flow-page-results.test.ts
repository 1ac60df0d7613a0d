// A person answers on the page, and the flow ends while no request of the client waits for it. Its outcome is kept until the client has fetched it:
// a process that dies in between must not make the next call do everything again.
import { createLog, createServer } from 'mcp-parley';
import { flow, memoryStore, serveFlows } from 'mcp-parley/flow';
import { expect, test } from 'vitest';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { systemClock } from '../../src/kernel/base/clock.ts';
import type { Clock } from '../../src/kernel/base/clock.ts';
import { connected } from '../helpers/fixture-server.ts';
import { until } from '../helpers/until.ts';

/** How long call-flow.ts gives an answer to leave the process. */
const ACKNOWLEDGE_MS = 200;

test('what a flow came to after an answer on the page is kept until the client fetches it', async () => {
  let effects = 0;
  let acknowledged = 0;
  const clock: Clock = {
    ...systemClock,
    after(ms, callback) {
      if (ms !== ACKNOWLEDGE_MS) return systemClock.after(ms, callback);
      acknowledged++;
      return systemClock.after(0, callback);
    },
  };
  const order = flow({ name: 'order' }, async (ask) => {
    await ask.confirm('sure', { message: 'Order it?', by: 'human' });
    await ask.step('pay', () => void effects++, { effect: 'retry' });
    return `paid ${effects}`;
  });
  const store = memoryStore();
  const start = async () => {
    const server = createServer({
      name: 'shop',
      version: '1.0.0',
      log: createLog({ level: 'silent' }),
      identify: () => 'ada',
    });
    serveFlows(server, [order], { store, clock });
    const { url } = await server.listen({ port: 0 });
    return { client: await connected(url, { revision: '2025-11-25' }), close: () => server.close() };
  };
  const call = async ({ client }: Awaited<ReturnType<typeof start>>, name: string, args = {}) => {
    const { content, _meta } = await client.callTool(name, args);
    const text = (content[0] as { text: string }).text;
    return { text, handle: _meta?.['mcp-parley/handle'], link: /http:\S+\/ask\?\S+/.exec(text)?.[0] };
  };

  const first = await start();
  const asked = await call(first, 'order');
  await new FakeBrowser().fill(asked.link!, { 'q0.0': 'true' });
  await until('the flow to end', async () => effects === 1);
  expect(acknowledged).toBe(0);

  const second = await start(); // as if the first had died
  const offered = await call(second, 'order');
  expect(offered.text).toMatch(/it has ended since|It is still running/); // instead of a new session that asks again

  const fetched = await call(first, 'parley_answer', { handle: asked.handle });
  expect(fetched.text).toBe('paid 1');
  await until('it to be acknowledged', async () => acknowledged === 1);
  for (const { client, close } of [first, second]) {
    await client.close();
    await close();
  }
  expect(effects).toBe(1);
});
