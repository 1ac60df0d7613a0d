import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answer } from '../fixtures/peer.mjs';
import { json, result, serve, stream, type Served, type Write } from '../fixtures/serve.mjs';
import { createSseLink, type SseLinkOptions } from './legacy-sse.ts';
import {
  call,
  describeLink,
  later,
  started,
  RecordedEvents,
  type LinkPeer,
} from '../../../gateway/servers/upstream.contract.ts';

describeLink({ name: 'HTTP+SSE', connect: async (limits) => linkTo(await serveSse(), { limits }) });

test('messages are posted to the endpoint that the server named, with the headers of link and call', async () => {
  await using server = await serveSse();
  await using peer = await started(async () => linkTo(server, { headers: { 'x-key': 'k' } }));
  peer.link.setHeaders?.({ 'mcp-protocol-version': '2024-11-05' });
  await peer.link.send(call('echo'), { headers: { 'x-call': 'c' } });
  await peer.told.answer('echo');
  expect(server.seen.map(({ method, path }) => [method, path])).toEqual([
    ['GET', '/mcp'],
    ['POST', '/post?sessionId=1'],
  ]);
  const headers = { 'x-key': 'k', 'x-call': 'c', 'mcp-protocol-version': '2024-11-05' };
  expect(server.seen[1]!.headers).toMatchObject({ ...headers, 'content-type': 'application/json' });
});

test('a refused POST keeps the body of the response', async () => {
  await using server = await serve(({ method }, response) => {
    if (method === 'GET') stream(response)({ event: 'endpoint', data: '/post' });
    else json(response, { error: 'no' }, 404);
  });
  await using peer = await started(async () => linkTo(server));
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ status: 404, body: { error: 'no' } });
  expect(peer.told.closes).toEqual([]);
});

test('a server that has no event stream refuses the start', async () => {
  await using server = await serve((_, response) => json(response, { error: 'POST only' }, 405));
  await using peer = linkTo(server);
  const told = new RecordedEvents();
  await expect(peer.link.start(told)).rejects.toMatchObject({ status: 405, body: { error: 'POST only' } });
  await peer.link.close();
  expect(told.closes).toEqual([]);
});

test('a response that is not an event stream is refused', async () => {
  await using server = await serve((_, response) => json(response, {}));
  await using peer = linkTo(server);
  await expect(peer.link.start(new RecordedEvents())).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
});

test('an endpoint of another origin is refused', async () => {
  for (const data of ['http://example.com/post', '//example.com/post', 'file:///etc/passwd']) {
    await using server = await serve((_, response) => stream(response)({ event: 'endpoint', data }));
    await using peer = linkTo(server);
    const error = await peer.link.start(new RecordedEvents()).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'UPSTREAM_INVALID', message: expect.stringContaining('same origin') });
  }
});

test('a server that never names its endpoint is given up', async () => {
  await using server = await serve((_, response) => stream(response)({ data: result('x') }));
  await using peer = linkTo(server, { startMs: 50 });
  const told = new RecordedEvents();
  await expect(peer.link.start(told)).rejects.toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message: expect.stringContaining('no endpoint event within 50 ms'),
  });
  expect(told.closes).toEqual([]);
});

test('a stream that ends before the endpoint refuses the start', async () => {
  await using server = await serve((_, response) => {
    stream(response)({ data: result('x') });
    response.end();
  });
  await using peer = linkTo(server);
  await expect(peer.link.start(new RecordedEvents())).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
});

test('close refuses what is under way', async () => {
  const arrived = later<void>();
  await using server = await serve(({ method }, response) => {
    if (method === 'GET') stream(response)({ event: 'endpoint', data: '/post' });
    else arrived.come();
  });
  await using peer = await started(async () => linkTo(server));
  const sent = expect(peer.link.send(call('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  await arrived.value;
  await peer.link.close();
  await sent;
});

/** The words of peer.mjs: one client, answered on its event stream. */
function serveSse(): Promise<Served> {
  let events: ServerResponse | undefined;
  let write: Write = () => undefined;
  return serve(({ method }, response, all) => {
    if (method === 'GET') {
      events = response;
      write = stream(response);
      write({ event: 'endpoint', data: 'post?sessionId=1' });
      return;
    }
    response.writeHead(202).end('Accepted');
    const isOver = (): boolean => events?.destroyed ?? true;
    answer(all.at(-1)!.message, {
      write: (data) => write({ event: 'message', data }),
      die: () => events?.destroy(),
      isOver,
    });
  });
}

function linkTo(server: Served, options: Partial<SseLinkOptions> = {}): LinkPeer {
  const link = createSseLink({ url: server.url, ...options });
  const dispose = async (): Promise<void> => {
    await link.close();
    await server.close();
  };
  return { link, [Symbol.asyncDispose]: dispose };
}
