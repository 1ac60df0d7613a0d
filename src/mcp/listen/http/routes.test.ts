// What an endpoint passes on to another gateway, and for how long.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import type { ForwardedVisit, Nodes } from '../../../kernel/nodes/nodes.ts';
import { markedNode } from '../../../kernel/nodes/nodes.ts';
import { fakeContext } from '../../eras/fake-context.contract.ts';
import { createHttpEndpoint } from './http-endpoint.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A gateway whose other node, `b`, opens a stream and says no more. */
async function besideAnother() {
  const forwarded: string[] = [];
  const ends = new Set<() => void>();
  const nodes: Nodes = {
    self: 'a',
    mark: '.a',
    ownerOf: (id) => (markedNode(id) === 'b' ? 'b' : undefined),
    sessionOwnerOf: (id) => (markedNode(id) === 'b' ? 'b' : undefined),
    isAlive: () => Promise.resolve(true),
    isSettled: () => Promise.resolve(true),
    onReturn: () => {},
    forward: (_, { request, response }: ForwardedVisit) => {
      forwarded.push(request.url!);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return new Promise((resolve) => response.on('close', () => resolve({ kind: 'answered' })));
    },
  };
  const watch = (end: () => void): (() => void) => {
    ends.add(end);
    return () => void ends.delete(end);
  };
  const endpoint = createHttpEndpoint(Object.assign(fakeContext(), { nodes }), {
    pages: { '/page': (_, response) => void response.end('here') },
    identify: () => ({ principal: 'ann', validity: { watch } }),
  });
  const server = createServer(endpoint.handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    endpoint.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, forwarded, ends };
}

const toPost = (method: string, params: object, headers: object = {}) => ({
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

it.each(['/nothing?t=x.b', '//127.0.0.1:9/x?t=x.b', '/mcpx?t=x.b'])(
  'a path that has no page is passed on to no gateway: %s',
  async (path) => {
    const { url, forwarded } = await besideAnother();
    expect((await fetch(url + path)).status).toBe(404);
    expect(forwarded).toEqual([]);
  },
);

it.each(['/page?t=x.b', '/sse?sessionId=x.b', '/message?sessionId=x.b'])(
  'what another gateway has is passed on to it: %s',
  async (path) => {
    const { url, forwarded } = await besideAnother();
    expect((await fetch(url + path)).status).toBe(200);
    expect(forwarded).toEqual([path]);
  },
);

const STREAMS: [string, string, RequestInit][] = [
  ['HTTP+SSE', '/sse?sessionId=x.b', {}],
  ['the stream of a session', '/mcp', { headers: { 'mcp-session-id': 'x.b', accept: 'text/event-stream' } }],
  ['a wish to listen', '/mcp', toPost('subscriptions/listen', { taskId: 'x.b' })],
  ['a wish to listen in a session', '/mcp', toPost('subscriptions/listen', {}, { 'mcp-session-id': 'x.b' })],
];

it.each(STREAMS)('a stream that is passed on ends with its key: %s', async (_, path, init) => {
  const { url, forwarded, ends } = await besideAnother();
  const answer = await fetch(url + path, init);
  expect(forwarded).toEqual([path]);
  expect(ends.size).toBeGreaterThan(0);
  for (const end of ends) end();
  expect(await answer.text()).toBe('');
  await vi.waitFor(() => expect(ends.size).toBe(0), 10_000);
});

it('a call that is passed on ends in its own time, whatever its key does', async () => {
  const { url, forwarded, ends } = await besideAnother();
  await fetch(`${url}/mcp`, toPost('tools/call', { name: 'x', requestState: 'x.b' }));
  expect(forwarded).toEqual(['/mcp']);
  expect(ends.size).toBe(0);
});
