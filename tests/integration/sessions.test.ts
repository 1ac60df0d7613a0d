// Sessions that end, and callers that are kept apart.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../helpers/http-wire.ts';
import type { Json, Reply } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { ask, callModern, elicits, follows, modern, openSession, rpc } from '../helpers/mcp-http.ts';
import { startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import { until } from '../helpers/until.ts';

const as = (user: string) => ({ 'x-user': user });

it('names the session in the answer to `initialize` and at the head of streams, and does not repeat it in every answer', async () => {
  await using server = await startStorm();
  const session = await openSession(server.url);
  const { status, headers } = await session.request('ping');
  expect([status, headers['mcp-session-id']]).toEqual([200, undefined]);
  const refused = await session.request('no/such-method');
  expect(refused.headers).not.toHaveProperty('mcp-session-id');
  const stream = await session.stream();
  stream.close();
  expect(stream.response.headers['mcp-session-id']).toBe(session.headers['mcp-session-id']);
  expect(await server.stop()).toBe(0);
});

describe('the end of a session', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startStorm();
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it('by DELETE cancels the running call, ends the streams, and makes the id worthless', async () => {
    const session = await openSession(server.url);
    const stream = await session.stream();
    const waiting = rpc('tools/call', { name: 'wait', arguments: { key: 'plain' } }, 'waiting');
    const plain = session.post(waiting, { accept: 'application/json' });
    const streamed = await session.callStream('detach', { key: 'streamed' });
    await until('it to run', async () => (await ask(server.url, 'state', { key: 'plain' })) === 'running');
    expect((await session.delete()).status).toBe(204);
    const { status, json } = await plain;
    expect([status, json.error?.code]).toEqual([404, -32001]);
    await Promise.all([stream.untilEnd(), streamed.untilEnd()]);
    await until('it to be cancelled', async () => (await ask(server.url, 'state', { key: 'plain' })) === 'cancelled');
    for (const reply of [await session.request('ping'), await session.delete(), await session.poll()]) {
      expect([reply.status, reply.json.error?.code]).toEqual([404, -32001]);
    }
  });

  it('a long poll is answered when the session ends', async () => {
    const session = await openSession(server.url);
    const poll = session.poll();
    await session.delete();
    expect([204, 404]).toContain((await poll).status);
  });

  it('comes when it is idle, but not while somebody listens or waits', async () => {
    await using impatient = await startStorm({ limits: { sessionIdleMs: 400 } });
    const [idle, listening, waiting] = await Promise.all(Array.from({ length: 3 }, () => openSession(impatient.url)));
    const stream = await listening!.stream();
    const call = waiting!.call('wait', { key: 'long' });
    await until('the idle one to be gone', async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000)); // looking too often would keep it alive
      return (await idle!.request('ping')).status === 404;
    });
    expect(stream.ended).toBe(false);
    await ask(impatient.url, 'release', { key: 'long' });
    expect((await call).status).toBe(200);
    expect((await listening!.request('ping')).status).toBe(200);
    stream.close();
    expect(await impatient.stop()).toBe(0);
  });

  it('the draft dialect over HTTP ends with exit, for its own session alone', async () => {
    const other = await openSession(server.url);
    const opened = await send(server.url, { body: rpc('initialize', { mcpVersion: '2025-06-18' }) });
    const headers = { 'mcp-session-id': opened.headers['mcp-session-id'] as string };
    expect((await send(server.url, { headers, body: rpc('shutdown') })).json).toMatchObject({ result: null });
    await send(server.url, { headers, body: { jsonrpc: '2.0', method: 'exit' } });
    expect((await send(server.url, { headers, body: rpc('tools/list') })).status).toBe(404);
    expect((await other.request('ping')).status).toBe(200);
  });
});

describe('callers that are told apart', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startStorm({ identify: true });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it("nobody can use another's session, by any method, nor learn that it exists", async () => {
    const alice = await openSession(server.url, { headers: as('alice') });
    const unknown = await send(server.url, {
      body: rpc('ping', undefined, 1),
      headers: { ...as('bob'), 'mcp-session-id': 'x' },
    });
    for (const user of [as('bob'), {}]) {
      const headers = { 'mcp-session-id': alice.headers['mcp-session-id']!, ...user };
      const foreign = await send(server.url, { body: rpc('ping', undefined, 1), headers });
      expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text]);
      for (const method of ['GET', 'DELETE']) expect((await send(server.url, { method, headers })).status).toBe(404);
      const request = modern('tools/call', { name: 'echo', arguments: { text: 'mine' } });
      const own = await send(server.url, { ...request, headers: { ...request.headers, ...headers } });
      expect(own.json.result!.resultType).toBe('complete'); // bob has no such session, so it does not matter
    }
    expect((await alice.request('ping')).status).toBe(200);
  });

  it("nobody can answer another's question", async () => {
    const call = (user: string, more: Json): Promise<Reply> => {
      const request = modern('tools/call', { name: 'ask', arguments: {}, ...more }, elicits);
      return send(server.url, { ...request, headers: { ...request.headers, ...as(user) } });
    };
    const { requestState } = (await call('alice', {})).json.result as { requestState: string };
    const answer = { requestState, inputResponses: { name: { action: 'accept', content: { name: 'Eve' } } } };
    const stolen = await call('eve', answer);
    expect([stolen.status, stolen.json.error!.code]).toEqual([400, -32602]);
    const own = await call('alice', answer);
    expect(own.json.result!.content![0]!.text).toBe('accept Eve');
    expect((await call('alice', answer)).json.result).toMatchObject({ isError: true });
  });

  it("nobody can see, answer or cancel another's task", async () => {
    const request = (user: string, method: string, params: Json): Promise<Reply> => {
      const { headers, body } = modern(method, params, follows);
      return send(server.url, { body, headers: { ...headers, ...as(user) } });
    };
    const { taskId } = (await request('alice', 'tools/call', { name: 'long', arguments: { key: 't' } })).json
      .result as { taskId: string };
    const attempts: [string, Json][] = [
      ['tasks/get', {}],
      ['tasks/cancel', {}],
      ['tasks/update', { inputResponses: {} }],
    ];
    const nobody = (await request('alice', 'tasks/get', { taskId: 'x' })).json.error!;
    for (const [method, more] of attempts) {
      const { error } = (await request('eve', method, { taskId, ...more })).json;
      expect(error).toEqual({ ...nobody, message: nobody.message.replace('x', taskId) });
    }
    expect((await request('alice', 'tasks/get', { taskId })).json.result).toMatchObject({ status: 'working' });
    await callModern(server.url, 'release', { key: 't' }, as('alice'));
    await until(
      'the task to end',
      async () => (await request('alice', 'tasks/get', { taskId })).json.result!.status === 'completed',
    );
  });

  it('tasks of 2025-11-25 belong to their session where nobody says who calls', async () => {
    const [one, two] = [await openSession(server.url), await openSession(server.url)];
    const created = await one.request('tools/call', { name: 'long', arguments: { key: 'mine' }, task: {} });
    const { taskId } = (created.json.result as unknown as { task: { taskId: string } }).task;
    expect((await two.request('tasks/get', { taskId })).json.error!.code).toBe(-32602);
    expect((await two.request('tasks/list')).json.result!.tasks).toEqual([]);
    expect((await one.request('tasks/get', { taskId })).json.result!.taskId).toBe(taskId);
    await one.request('tasks/cancel', { taskId });
  });

  it('a legacy session and a WebSocket know their owner, too', async () => {
    const created = await send(server.url.replace('/mcp', '/sse'), {
      method: 'POST',
      headers: { 'content-length': '0', ...as('alice') },
    });
    const { endpoint } = created.json as unknown as { endpoint: string };
    const url = new URL(endpoint, server.url).href;
    expect((await send(url, { body: rpc('ping'), headers: as('eve') })).status).toBe(404);
    expect((await send(url, { body: rpc('ping'), headers: as('alice') })).status).toBe(202);
    const { wire, socket } = await socketWire(server.port, as('alice'));
    await wire.initialize();
    const task = (await wire.request('tools/call', { name: 'long', arguments: { key: 'ws' }, task: {} }))
      .result as unknown as { task: { taskId: string } };
    const eve = await openSession(server.url, { headers: as('eve') });
    expect((await eve.request('tasks/get', { taskId: task.task.taskId })).json.error!.code).toBe(-32602);
    const alice = await openSession(server.url, { headers: as('alice') });
    expect((await alice.request('tasks/cancel', { taskId: task.task.taskId })).json.result!.status).toBe('cancelled');
    socket.close();
  });
});
