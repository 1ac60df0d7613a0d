import { fileURLToPath } from 'node:url';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { answer } from '../fixtures/peer.mjs';
import { isLostAnswer } from './link.ts';
import type { LinkLimits } from './inbox.ts';
import { createTransportLink } from './sdk-transport.ts';
import {
  call,
  describeLink,
  note,
  started,
  RecordedEvents,
  type LinkPeer,
} from '../../../gateway/servers/upstream.contract.ts';

describeLink({
  name: 'SDK transport',
  connect: pair,
  exempt: {
    flood: 'the transport cannot be paused',
    oversize: 'messages are objects here; they have no size',
    'not JSON': 'messages are objects here; there is no text that could not be read',
  },
});

test('a transport of the SDK brings answers, tells what it could not read, and its end', async () => {
  const args = [fileURLToPath(new URL('../fixtures/echo.mjs', import.meta.url))];
  await using peer = await started(async () => toPeer(new StdioClientTransport({ command: process.execPath, args })));
  await peer.link.send(call('say', { frames: ['{"jsonrpc":"1.0"}', note({ n: 1 })] }));
  await peer.told.answer('say');
  expect(peer.told.notes()).toEqual([{ n: 1 }]);
  expect(peer.told.garbage).toHaveLength(1);
  await peer.link.send(call('die'));
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
});

test('data that the transport cannot read is reported as garbage', async () => {
  const transport = fake();
  await using peer = await started(async () => toPeer(transport));
  transport.onerror?.(new Error('Unexpected token'));
  transport.onmessage?.({ jsonrpc: '1.0' } as never);
  expect(peer.told.garbage).toEqual(['Unexpected token', 'Invalid Request: jsonrpc must be "2.0"']);
});

test('the revision reaches the transport, and the headers and signal of a call go with it', async () => {
  const heard: unknown[] = [];
  const transport = fake({
    hasPerRequestStream: true,
    setProtocolVersion: (version) => void heard.push(version),
    send: async (_, options) => void heard.push(options),
  });
  await using peer = await started(async () => toPeer(transport));
  const { signal } = new AbortController();
  peer.link.setHeaders?.({ 'mcp-protocol-version': '2025-06-18' });
  await peer.link.send(call('echo'), { headers: { a: 'b' }, signal });
  expect(heard).toMatchObject(['2025-06-18', { headers: { a: 'b' }, requestSignal: signal }]);
  expect(peer.link.perRequestStreams).toBe(true);
});

test('a transport that cannot start is unreachable', async () => {
  const link = createTransportLink(fake({ start: () => Promise.reject(new Error('no way')) }));
  const told = new RecordedEvents();
  await expect(link.start(told)).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE', details: { reason: 'no way' } });
  expect(told.closes).toEqual([]);
});

test.each([
  [{ data: { status: 400, text: '{"error":{"code":-32022}}' } }, { status: 400, body: { error: { code: -32022 } } }],
  [{ data: { status: 404 } }, { status: 404, body: '' }],
  [{ name: 'UnauthorizedError' }, { status: 401, body: '' }],
])('an HTTP error of the SDK, %j, is evidence as any other', async (thrown, refusal) => {
  const error = Object.assign(new Error('Error POSTing to endpoint'), thrown);
  await using peer = await started(async () => toPeer(fake({ send: () => Promise.reject(error) })));
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ name: 'HttpRefusal', ...refusal });
});

test('a stream of a request that ended without an answer is a lost answer; notifications have none', async () => {
  const transport = fake({ hasPerRequestStream: true, send: async (_, options) => options?.onRequestStreamEnd?.() });
  await using peer = await started(async () => toPeer(transport));
  await peer.link.send(call('echo'));
  await peer.link.send({ jsonrpc: '2.0', method: 'note' });
  expect(peer.told.messages.map(({ message }) => isLostAnswer(message))).toEqual([true]);
});

/** The words of peer.mjs in this process. */
async function pair(limits?: LinkLimits): Promise<LinkPeer> {
  let isOver = false;
  const close = async (): Promise<void> => {
    isOver = true;
    transport.onclose?.();
  };
  const out = {
    write: (frame: string) => transport.onmessage?.(JSON.parse(frame) as JSONRPCMessage),
    die: () => void close(),
    isOver: () => isOver,
  };
  const transport = fake({ send: async (message) => void setImmediate(answer, message, out), close });
  return toPeer(transport, limits);
}

function toPeer(transport: Transport, limits?: LinkLimits): LinkPeer {
  const link = createTransportLink(transport, limits);
  return { link, [Symbol.asyncDispose]: () => link.close() };
}

function fake(parts: Partial<Transport> = {}): Transport {
  return { start: async () => {}, send: async () => {}, close: async () => {}, ...parts };
}
