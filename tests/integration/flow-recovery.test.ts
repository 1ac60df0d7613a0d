// What the MCP Flow document wants of clients, with real servers: a session that expires is started again, and a server is discovered by its
// method `capabilities` alone.
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { connectFlows, flow, serveFlows } from 'mcp-parley/flow';
import { connected, fixture, startHttp } from '../helpers/fixture-server.ts';
import { within } from '../helpers/until.ts';

const log = createLog({ level: 'silent' });
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await within('closing', close());
});

async function addressOf(transport: 'stdio' | 'http' | 'ws') {
  if (transport === 'stdio') return fixture('flow-tools', ['--stdio']);
  const http = await startHttp(fixture('flow-tools', ['--port', '0']));
  open.push(() => http.stop());
  return transport === 'http' ? http.url : `ws://127.0.0.1:${http.port}/ws`;
}

test.each([
  ['http', '2026-07-28'],
  ['http', '2025-06-18'],
  ['ws', '2025-06-18'],
  ['stdio', '2025-06-18'],
] as const)('starts a session on %s (%s) again that expires while its user thinks', async (transport, revision) => {
  const client = await within('connect', connectFlows(await addressOf(transport), { log, revision }));
  open.push(() => client.close());
  const heard: string[] = [];
  let asked = 0;
  const outcome = await within(
    'the flow',
    client.run(
      'greet',
      {},
      {
        timeout: 300,
        onFeedback: (text) => heard.push(text),
        // The first time, the user comes back when the question is gone.
        onPrompt: (_prompt, { signal }) =>
          asked++ > 0 ? 'Ada' : new Promise((resolve) => signal!.addEventListener('abort', () => resolve('too late'))),
      },
    ),
  );
  expect(outcome).toMatchObject({ success: true, result: { text: 'Hello Ada' } });
  expect(asked).toBe(2);
  expect(heard).toContain('The session has expired; it starts over.');
});

test('a server that only its method "capabilities" reveals asks clients without Flow by forms', async () => {
  const gateway = createGateway({ servers: { hand: fixture('flow-only', ['--undeclared']) }, log, startMs: 60_000 });
  open.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const asked: unknown[] = [];
  const client = await connected(url, {
    revision: '2025-06-18',
    onElicit: ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { answer: 'Ada' } };
    },
  });
  open.push(() => client.close());
  for (const _ of [1, 2]) {
    expect(await within('the call', client.callTool('greet', {}))).toMatchObject({
      structuredContent: { name: 'Ada' },
    });
  }
  expect(asked).toEqual(['Your name?', 'Your name?']);
  expect(await client.callTool('plain', {})).toMatchObject({ content: [{ text: 'called' }] });
});

test('a step that takes too long after an answer ends its session with the code of a timeout', async () => {
  const server = createServer({ name: 'slow', version: '1', log });
  const slow = flow({ name: 'slow' }, async (ask) => {
    await ask.text('name', { message: 'Your name?' });
    await ask.step('work', () => new Promise(() => {}), { timeout: '50ms' });
    return {};
  });
  serveFlows(server, [slow]);
  open.push(() => server.close());
  const client = await connectFlows((await server.listen({ port: 0 })).url, { log });
  open.push(() => client.close());
  const { success, error } = await within('the flow', client.run('slow', {}, { onPrompt: () => 'Ada' }));
  expect({ success, error }).toMatchObject({ success: false, error: { name: 'FLOW_TIMEOUT', code: -32005 } });
});
