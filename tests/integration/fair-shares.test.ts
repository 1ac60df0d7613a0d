// One who takes what is for everybody: connections, listen streams, sessions, open questions. Others get their share.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { GatewayOptions } from 'mcp-parley';
import { fixture } from '../helpers/fixture-server.ts';
import { openStream, send } from '../helpers/http-wire.ts';
import { elicits, modern, rpc } from '../helpers/mcp-http.ts';
import { serving, well } from '../helpers/moody.ts';
import { within } from '../helpers/until.ts';

const gatewayWith = (limits: GatewayOptions['limits'], more: Partial<GatewayOptions> = {}) =>
  serving({ servers: { one: well('one'), two: well('two') }, startMs: 60_000, limits, ...more });

const call = (url: string, from: string, name = 'one__one_echo', meta = {}, more = {}) =>
  send(url, { ...modern('tools/call', { name, arguments: { text: 'x' }, ...more }, meta), from });

test('one address cannot take all connections', async () => {
  await using gateway = await gatewayWith({ maxConnections: 20 });
  const sockets: Socket[] = [];
  const flood = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', localAddress: '127.0.0.2' });
      sockets.push(socket.on('error', () => {}));
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    }
  };
  try {
    await flood(40);
    for (let n = 0; n < 10; n++) {
      expect((await call(gateway.url, '127.0.0.3')).json.result).toBeDefined();
      await flood(5);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('one address cannot take all listen streams, nor those of others', async () => {
  await using gateway = await gatewayWith({ maxListens: 6 });
  const listen = (from: string) => {
    const { body, headers } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    return openStream(gateway.url, {
      method: 'POST',
      body,
      headers: { ...headers, accept: 'text/event-stream' },
      from,
    });
  };
  const flood = [];
  for (let n = 0; n < 6; n++) flood.push(await listen('127.0.0.2'));
  const polite = await listen('127.0.0.3');
  await polite.until('its acknowledgement', ({ messages }) => messages.length > 0);
  await flood[0]!.until('its end', ({ ended }) => ended);
  const { body, headers } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  for (let n = 0; n < 20; n++) {
    const reply = await send(gateway.url, { body, headers, from: '127.0.0.2' });
    expect([reply.status, reply.json.error?.code]).toEqual([429, -32000]);
  }
  expect(polite.ended).toBe(false);
  for (const stream of [...flood, polite]) stream.close();
});

test('a caller has so many sessions at all paths together', async () => {
  await using gateway = await gatewayWith({ maxSessionsPerCaller: 10 }, { groups: { both: ['one', 'two'] } });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const opened: { url: string; headers: Record<string, string> }[] = [];
  for (const path of ['', '/one', '/two', '/both']) {
    for (let n = 0; n < 10; n++) {
      const url = gateway.url + path;
      const { headers } = await send(url, { body: rpc('initialize', params), from: '127.0.0.2' });
      opened.push({ url, headers: { 'mcp-session-id': headers['mcp-session-id'] as string } });
    }
  }
  const alive = await Promise.all(opened.map(({ url, headers }) => send(url, { body: rpc('ping'), headers })));
  expect(alive.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(alive.slice(-10).every(({ status }) => status === 200)).toBe(true);
});

const asking = () => ({ asks: { server: fixture('asks-and-reports'), era: 'handshake' as const } });

test('one who answers no questions does not keep others from being asked', async () => {
  const limits = { maxParked: 6 };
  await using gateway = await serving({ servers: asking(), startMs: 60_000, limits });
  const ask = (from: string, more = {}) => call(gateway.url, from, 'asks__ask', elicits, more);
  const flood = await Promise.all(Array.from({ length: 12 }, () => ask('127.0.0.2')));
  expect(flood.filter(({ json }) => json.result?.resultType === 'input_required')).toHaveLength(6);
  const asked = await within('the question', ask('127.0.0.3'));
  const { resultType, inputRequests, requestState } = asked.json.result as Record<string, unknown>;
  expect(resultType).toBe('input_required');
  const [key] = Object.keys(inputRequests as object);
  const inputResponses = { [key!]: { action: 'accept', content: { name: 'Ada' } } };
  const answered = await ask('127.0.0.3', { inputResponses, requestState });
  expect(answered.json.result?.content?.[0]?.text).toBe('hello Ada');
});

test('a call that reports progress for ever ends', async () => {
  const limits = { maxCallMs: 1500 };
  await using gateway = await serving({ servers: asking(), startMs: 60_000, limits });
  const client = await gateway.client();
  let reports = 0;
  const calling = client.callTool('asks__report', {}, { onProgress: () => void reports++, timeoutMs: 100_000 });
  const error = await within(
    'the end of the call',
    calling.catch((thrown: unknown) => thrown as Error),
  );
  expect((error as Error).message).toContain('within 1500 ms, the longest that a call may take');
  expect(reports).toBeGreaterThan(1);
});
