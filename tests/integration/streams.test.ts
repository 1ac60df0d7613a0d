// Streams of the handshake era over HTTP: GET, resumption, long poll, 2024-11-05; and listen streams of the stateless era.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream, send } from '../helpers/http-wire.ts';
import type { Answer, Stream } from '../helpers/http-wire.ts';
import { ask, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import { until } from '../helpers/until.ts';

let server: ServerProcess;
beforeAll(async () => {
  server = await startStorm({ limits: { pollMs: 500 } });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const announce = (n: number) => ask(server.url, 'announce', { n });
const announced = (messages: Answer[]) =>
  messages
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => (params!.data as { n: number }).n);
const heard = (stream: Stream, ...wanted: number[]) =>
  stream.until(`announcements ${wanted.join()}`, ({ messages }) =>
    wanted.every((n) => announced(messages).includes(n)),
  );
const methods = (stream: Stream) => stream.messages.map(({ method, id }) => method ?? `answer ${String(id)}`);

describe('GET', () => {
  it('20 sessions with a stream each hear everything, once, in order', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, async () => (await openSession(server.url)).stream()));
    for (const n of [1, 2, 3]) await announce(n);
    for (const stream of streams) {
      await heard(stream, 3);
      expect(announced(stream.messages)).toEqual([1, 2, 3]);
      stream.close();
    }
  });

  it('of two streams in one session each message comes on exactly one, also after the newer is gone', async () => {
    const session = await openSession(server.url);
    const older = await session.stream();
    const newer = await session.stream();
    await announce(1);
    await heard(newer, 1);
    newer.close();
    await until('the server to notice', async () => {
      await announce(2);
      return announced(older.messages).length > 0;
    });
    await announce(3);
    await heard(older, 3);
    expect(announced(older.messages)).not.toContain(1);
    expect(announced(newer.messages)).toEqual([1]);
    older.close();
  });

  it('resumes with exactly what was missed', async () => {
    const session = await openSession(server.url);
    const first = await session.stream();
    for (const n of [1, 2, 3]) await announce(n);
    await heard(first, 3);
    const id = first.events.find(({ data }) => data?.includes('"n":1'))!.id!;
    first.close();
    await announce(4);
    const second = await session.stream(id);
    await announce(5);
    await heard(second, 5);
    expect(announced(second.messages)).toEqual([2, 3, 4, 5]);
    expect(new Set(second.events.map((event) => event.id)).size).toBe(4);
    second.close();
    const other = await (await openSession(server.url)).stream(id);
    await announce(6);
    await heard(other, 6);
    expect(announced(other.messages)).toEqual([6]); // an id is worth nothing in another session
    other.close();
  });

  it('asks travel on the stream of their call; without one, on the GET stream', async () => {
    const session = await openSession(server.url, { capabilities: { elicitation: {} } });
    const get = await session.stream();
    const call = session.post(rpc('tools/call', { name: 'ask' }, 'asking'), { accept: 'application/json' });
    await get.until('the question', ({ messages }) => messages.some(({ method }) => method === 'elicitation/create'));
    const { id } = get.messages.find(({ method }) => method === 'elicitation/create')!;
    await session.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } });
    expect((await call).json.result!.content![0]!.text).toBe('accept Ada');
    get.close();
  });

  it('a question is cancelled when its call is cancelled', async () => {
    const session = await openSession(server.url, { capabilities: { elicitation: {} } });
    const stream = await session.callStream('ask', {}, 'asking');
    await stream.until('the question', ({ messages }) => messages.length > 0);
    const question = stream.messages[0]!;
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'asking' } });
    await stream.untilEnd();
    expect(methods(stream)).toEqual(['elicitation/create', 'notifications/cancelled']);
    expect(stream.messages[1]!.params!.requestId).toBe(question.id);
  });
});

describe('a POST that lets go of its stream', () => {
  it('is picked up again with GET: the rest of it, once, in order, to its end', async () => {
    const session = await openSession(server.url);
    const post = await session.callStream('detach', { key: 'detached' });
    await post.untilEnd();
    expect(methods(post)).toEqual(['notifications/progress']);
    const last = post.events.at(-1)!;
    expect([last.data, last.retry]).toEqual(['', '10']);
    await ask(server.url, 'release', { key: 'detached' });
    const get = await (await session.stream(last.id)).untilEnd();
    expect(methods(get).slice(0, 2)).toEqual(['notifications/progress', 'notifications/progress']);
    expect(get.messages.at(-1)!.result!.content![0]!.text).toBe('attached again');
    expect(get.messages).toHaveLength(3);
    const again = await (await session.stream(get.events[0]!.id)).untilEnd();
    expect(again.messages).toHaveLength(2);
  });

  it('older revisions keep their stream, and get no event without data', async () => {
    const session = await openSession(server.url, { version: '2025-06-18' });
    const post = await session.callStream('detach', { key: 'attached' });
    await post.until('progress', ({ messages }) => messages.length === 1);
    await ask(server.url, 'release', { key: 'attached' });
    await post.untilEnd();
    expect(post.messages).toHaveLength(4);
    expect(post.events.every(({ data }) => data !== '')).toBe(true);
  });
});

describe('a long poll', () => {
  it('brings what waits as an array, or 204 after a while', async () => {
    const session = await openSession(server.url);
    expect((await session.poll()).status).toBe(204);
    for (const n of [1, 2]) await announce(n);
    const { status, json } = await session.poll();
    expect(status).toBe(200);
    expect(announced(json as unknown as Answer[])).toEqual([1, 2]);
    const pending = session.poll();
    await until('a poll to bring the third', async () => {
      await announce(3);
      return Promise.race([pending.then(() => true), new Promise((resolve) => setTimeout(resolve, 20, false))]);
    });
  });
});

describe('2024-11-05', () => {
  const sse = () => server.url.replace('/mcp', '/sse');

  it('a second GET for the same session takes over, and the session lives on', async () => {
    const first = await openStream(sse());
    await first.until('the endpoint', ({ events }) => events.length > 0);
    const { sessionId } = Object.fromEntries(new URL(first.events[0]!.data!, server.url).searchParams);
    const second = await openStream(`${sse()}?sessionId=${sessionId}`);
    await first.untilEnd();
    await second.until('the endpoint', ({ events }) => events.length > 0);
    const endpoint = new URL(second.events[0]!.data!, server.url).href;
    expect((await send(endpoint, { body: rpc('ping', undefined, 'taken over') })).status).toBe(202);
    await second.until('the answer', ({ messages }) => messages.some(({ id }) => id === 'taken over'));
    second.close();
    await until('the session to be gone', async () => (await send(endpoint, { body: rpc('ping') })).status === 404);
  });

  it('a session made by POST keeps its answers for the GET; bad messages are told on the stream', async () => {
    const created = await send(sse(), { method: 'POST', headers: { 'content-length': '0' } });
    expect(created.status).toBe(201);
    const { endpoint, sessionId } = created.json as unknown as { endpoint: string; sessionId: string };
    const url = new URL(endpoint, server.url).href;
    await send(url, { body: rpc('ping', undefined, 'early') });
    await send(url, { body: '{' });
    expect((await send(url, { body: '{}', headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    const stream = await openStream(`${sse()}?sessionId=${sessionId}`);
    await stream.until('both answers', ({ messages }) => messages.length === 2);
    expect(stream.messages).toMatchObject([
      { id: 'early', result: {} },
      { id: null, error: { code: -32700 } },
    ]);
    stream.close();
  });

  it('without a session, or with one nobody knows, is refused', async () => {
    const message = server.url.replace('/mcp', '/message');
    expect((await send(message, { body: rpc('ping') })).status).toBe(400);
    expect((await send(`${message}?sessionId=x`, { body: rpc('ping') })).status).toBe(404);
    expect((await send(`${sse()}?sessionId=x`, { method: 'GET' })).status).toBe(404);
    expect((await send(message, { method: 'GET' })).headers.allow).toBe('POST');
  });
});

describe('a listen stream', () => {
  it('is acknowledged first, tells what was asked for, and is given up with the connection', async () => {
    const request = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const stream = await openStream(server.url, { method: 'POST', ...request });
    await stream.until('the acknowledgement', ({ messages }) => messages.length === 1);
    await announce(9);
    await ask(server.url, 'change');
    await stream.until('a change', ({ messages }) => messages.length > 1);
    expect(new Set(methods(stream))).toEqual(
      new Set(['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']),
    );
    for (const { params } of stream.messages) {
      expect(params!._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': request.body.id });
    }
    stream.close();
  });
});
