// Answers and ends that come late: of a session that is lost, to a gateway that stops, and to one whose client has not come yet.
import { afterEach, describe, expect, test } from 'vitest';
import { connect, createGateway, createLog } from 'mcp-parley';
import { retry } from 'mcp-parley/middleware';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { MODERN, modern } from '../helpers/mcp-http.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { RecordingServer } from '../helpers/recording-server.ts';
import { within } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test('a late answer of a lost session does not bring the session back, and the good one is ended in the end', async () => {
  await using server = new RecordingServer('handshake');
  let answerSlow = (): void => {};
  server.answer = async ({ message, headers }, response) => {
    if (message.method !== 'tools/call') return undefined;
    const { name } = message.params as Json;
    const session = String(headers['mcp-session-id']);
    if (name === 'slow') await new Promise<void>((resolve) => (answerSlow = resolve));
    else if (session === 'session-1') return void response.writeHead(404).end();
    response.setHeader('mcp-session-id', session);
    return undefined;
  };
  const client = await connect(await server.listen(), { revision: '2025-11-25' });
  closing.push(() => client.close());
  const slow = client.callTool('slow', { n: 1 });
  await server.got('tools/call', 1);
  await client.callTool('fast', { n: 2 });
  answerSlow();
  await slow;
  await client.callTool('fast', { n: 3 });
  expect(server.of('initialize')).toHaveLength(2);
  expect(server.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).toEqual([
    'session-1',
    'session-1',
    'session-2',
    'session-2',
  ]);
  await client.close();
  expect(server.deleted).toEqual(['session-2']);
});

describe('a gateway that is stopped', () => {
  test('answers the open calls of stateless HTTP clients with an error that says so', async () => {
    await using server = new RecordingServer('stateless');
    server.answer = ({ message }) => (message.method === 'tools/call' ? new Promise(() => {}) : undefined);
    const parley = start(newHome(), ['wrap', '--port', '0', '--open', await server.listen()]);
    const url = await parley.url();
    const calls = [1, 2].map((amount) => modern('tools/call', { name: 'pay', arguments: { amount } }));
    const replies = calls.map((call) => send(url, call));
    await server.got('tools/call', 2);
    parley.child.kill('SIGINT'); // SIGTERM would wait for the calls
    for (const [index, reply] of replies.entries()) {
      const said = { id: calls[index]!.body.id, error: { data: { stopped: true } } };
      expect((await within('the answer', reply)).json).toMatchObject(said);
    }
    await parley.ended();
  });
});

describe('before a client has come', () => {
  test('`wrap --port URL` sends nothing to the server, and one request of the right era when a client comes', async () => {
    await using server = new RecordingServer('stateless');
    server.answer = ({ message }, response) => {
      if (message.method !== 'initialize') return undefined;
      const error = { code: -32022, message: 'Unsupported protocol version', data: { supported: [MODERN] } };
      response.writeHead(400, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    };
    const parley = start(newHome(), ['wrap', '--port', '0', '--open', await server.listen()]);
    const url = await parley.url();
    // The port answers, and the server has heard nothing.
    const bare = await send(url, { body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expect(bare.status).toBeLessThan(500);
    expect(server.received.map(({ message }) => message.method)).toEqual([]);
    const call = modern('tools/call', { name: 'pay', arguments: { amount: 1 } });
    expect((await send(url, call)).json.result).toMatchObject({ content: [{ text: 'done' }] });
    expect(server.of('initialize')).toEqual([]);
    // A client of the other era is a reason to ask for that era, once.
    await using old = await connect(url, { revision: '2025-11-25' });
    await old.callTool('pay', { amount: 2 });
    expect(server.of('initialize').length).toBeLessThanOrEqual(1);
    expect(JSON.stringify(server.of('initialize').map(({ message }) => message))).not.toContain('mcpVersion');
  });
});

test('a call that waits as long as the server asked is not refused by the gateway itself', async () => {
  await using server = new RecordingServer('handshake');
  server.answer = ({ message }, response, earlier) => {
    if (message.method !== 'resources/read' || earlier % 2 === 1) return undefined;
    return void response.writeHead(503, { 'retry-after': '1' }).end();
  };
  const log = createLog({ level: 'silent' });
  const gateway = createGateway({
    servers: { busy: { url: await server.listen() } },
    steps: [retry({ attempts: 2, delayMs: 1, maxDelayMs: 5000 })],
    log,
  });
  closing.push(() => gateway.close());
  await using client = await connect((await gateway.listen({ port: 0 })).url);
  for (let n = 0; n < 3; n++) expect(await client.readResource(`file:///${n}`)).toBeDefined();
  expect(server.of('resources/read')).toHaveLength(6);
});
