// The reason of an abort reaches everything that decides by it: the server, a flow, and the routing of questions.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { FrontMCPServer, MiddlewareMCPServer, createGateway, createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { timeout } from 'mcp-parley/middleware';
import { connected } from '../helpers/fixture-server.ts';
import { openStream, send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire, stdioWire } from '../helpers/line-wire.ts';
import { openSession, rpc } from '../helpers/mcp-http.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { RecordingServer } from '../helpers/recording-server.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

describe('behind the step `timeout`', () => {
  test('a server gets the reason and the _meta of a cancel, as the client said them', async () => {
    await using server = new RecordingServer('handshake');
    server.answer = ({ message }) => (message.method === 'tools/call' ? new Promise(() => {}) : undefined);
    const gateway = createGateway({
      servers: { slow: { url: await server.listen() } },
      steps: [timeout(600_000)],
      log,
    });
    closing.push(() => gateway.close());
    const { url } = await gateway.listen({ port: 0 });
    const { headers } = await openSession(url);
    const body = rpc('tools/call', { name: 'slow__pay', arguments: { amount: 1 } });
    const stream = await openStream(url, { method: 'POST', headers, body });
    closing.push(() => stream.close());
    const [call] = await server.got('tools/call', 1);
    const params = { requestId: body.id, reason: 'wrong amount', _meta: { 'com.example/by': 'ann' } };
    await send(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params } });
    const [told] = await server.got('notifications/cancelled', 1);
    expect(told!.message.params).toEqual({ ...params, requestId: call!.message.id });
  });

  test('a flow whose client merely disconnects waits for it, and is not undone', async () => {
    const undone: string[] = [];
    const release = flow({ name: 'release', limits: { duration: '2d' } }, async (ask) => {
      await ask.step('reserve', () => 'slot', { effect: 'retry', undo: () => void undone.push('slot') });
      const version = await ask.text('version', { message: 'Which version?', alone: true });
      const note = await ask.text('note', { message: 'What is new?', alone: true });
      return `released ${version} ${note}`;
    });
    const server = createServer({ name: 'ops', version: '1', log });
    serveFlows(server, [release]);
    const identify = ({ headers }: { headers: Record<string, unknown> }) => headers['x-user'] as string | undefined;
    const front = new FrontMCPServer(new MiddlewareMCPServer(server, [timeout(600_000)]), { identify, log });
    closing.push(() => front.close());
    const { url } = await front.listen({ port: 0 });

    const user = { 'x-user': 'ada' };
    const { wire, socket } = await socketWire(Number(new URL(url).port), user);
    await wire.initialize('2025-11-25', { elicitation: {} });
    wire.write(rpc('tools/call', { name: 'release', arguments: {} }));
    const asksFor = (name: string) => (message: { method?: unknown }) =>
      message.method === 'elicitation/create' && JSON.stringify(message).includes(`"${name}"`);
    const { id } = await wire.find('the first question', asksFor('version'));
    wire.write({ jsonrpc: '2.0', id, result: { action: 'accept', content: { version: '1.0' } } });
    await wire.find('the second question', asksFor('note'));
    socket.terminate();

    const asked: string[] = [];
    await using client = await connected(
      { url, headers: user },
      {
        revision: '2025-11-25',
        onElicit({ message }) {
          asked.push(message);
          return { action: 'accept', content: asked.length === 1 ? { resume: true } : { note: 'all' } };
        },
      },
    );
    const { content } = await client.callTool('release', {});
    expect(asked[0]).toContain('You started this before');
    expect(content).toMatchObject([{ text: 'released 1.0 all' }]);
    expect(undone).toEqual([]);
  });
});

/** Asks in each call, without naming the call, and writes what it gets to a file. */
const ASKS = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const schema = { type: 'object', properties: { sure: { type: 'boolean' } } };
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(process.argv[2], line + '\\n');
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asks', version: '1' } } });
  }
  if (method === 'server/discover') write({ id, error: { code: -32601, message: 'Method not found' } });
  if (method === 'tools/list') write({ id, result: { tools: [{ name: 'wipe', inputSchema: { type: 'object' } }] } });
  if (method === 'ping') write({ id, result: {} });
  if (method === 'tools/call') {
    write({ id: 'sure-' + id, method: 'elicitation/create', params: { message: 'Wipe it?', requestedSchema: schema } });
  }
});
`;

test('the user who stops a call with an open form is not asked again, and the server gets an answer to its question', async () => {
  const home = newHome();
  const seen = home.write('seen.txt', '');
  const parley = start(home, ['wrap', '--', process.execPath, home.write('asks.mjs', ASKS), seen]);
  const got = (): Json[] =>
    readFileSync(seen, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
  const wire = stdioWire(parley.child);
  await wire.initialize('2025-11-25', { elicitation: {} });
  const call = rpc('tools/call', { name: 'wipe', arguments: { disk: 'a' } });
  wire.write(call);
  const question = await wire.find('the form', ({ method }) => method === 'elicitation/create');
  wire.write({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: call.id, reason: 'no, not that' },
  });
  await wire.find('the end of the form', ({ method }) => method === 'notifications/cancelled');
  await until('an answer to the question', () =>
    got().some(({ id, error }) => String(id).startsWith('sure-') && error),
  );
  const cancelled = got().find(({ method }) => method === 'notifications/cancelled');
  expect(cancelled?.params).toMatchObject({ reason: 'no, not that' });
  expect((await wire.request('ping')).result).toEqual({});
  const asked = wire.messages.filter(({ method }) => method === 'elicitation/create');
  expect(asked).toEqual([question]);
});
