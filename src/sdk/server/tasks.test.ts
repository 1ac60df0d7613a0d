import { describe, expect, it } from 'vitest';
import type { Ask } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Change, TaskState } from '../../kernel/target.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { FakeClock, FakeExchange, answerOf, fakeClient } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { Call, ServerOptions, ToolHandler } from './types.ts';

const RELATED = 'io.modelcontextprotocol/related-task';

/** A server with one tool that may run as a task, and a client that talks to it. */
function withTask(handler: ToolHandler<JsonObject>, options: Partial<ServerOptions> = {}) {
  const clock = new FakeClock();
  const server = new Server({ name: 'test', version: '1', clock, ...options });
  const told: TaskState[] = [];
  server.watch((change: Change) => change.kind === 'task' && told.push(change.task));
  server.tool('t', { task: 'optional', input: { type: 'object', maxProperties: 1 } }, handler);
  const send = (method: string, params: JsonObject, given: ConstructorParameters<typeof FakeExchange>[1] = {}) =>
    answerOf(server, new FakeExchange(method, { params, ...given }));
  const start = async (given: ConstructorParameters<typeof FakeExchange>[1] = {}) => {
    const answer = await send('tools/call', { name: 't' }, { task: { requested: true }, ...given });
    return (answer['task'] as TaskState).taskId;
  };
  return { server, clock, told, send, start };
}

const forever = (_: JsonObject, call: Call) =>
  new Promise<never>((_resolve, reject) => {
    call.signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
const turn = () => new Promise((resolve) => setImmediate(resolve));
const canBeAsked = { answer: () => ({}) };

describe('a tool call', () => {
  it('runs as a task where the client asks for it, and answers at once', async () => {
    const { send, told } = withTask(() => 'done');
    const answer = await send('tools/call', { name: 't' }, { task: { requested: true } });
    expect(answer).toEqual({
      task: {
        taskId: expect.stringMatching(/^task-[\w-]{22}$/) as string,
        status: 'working',
        createdAt: '2030-01-01T00:00:00.000Z',
        lastUpdatedAt: '2030-01-01T00:00:00.000Z',
        ttlMs: 3_600_000,
        pollIntervalMs: 500,
      },
    });
    expect(told).toEqual([]);
  });

  it('runs as ever where the client says nothing of tasks', async () => {
    const { send } = withTask(() => 'done');
    expect(await send('tools/call', { name: 't' })).toMatchObject({ isError: false });
  });

  it('a tool call is refused before it becomes a task when its arguments are wrong', async () => {
    const { send } = withTask(() => 'done');
    const params = { name: 't', arguments: { a: 1, b: 2 } };
    const called = send('tools/call', params, { task: { requested: true } });
    await expect(called).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  it('a tool call of a tool that runs only as a task needs a client that can follow one', async () => {
    const { server, send } = withTask(() => '');
    server.tool('only', { task: 'required' }, () => '');
    const refused = { code: 'TASK_REQUIRED', details: { tool: 'only' } };
    await expect(send('tools/call', { name: 'only' })).rejects.toMatchObject(refused);
    expect(await send('tools/call', { name: 'only' }, { task: { requested: false } })).toHaveProperty('task');
  });

  it('a tool call of a tool that never runs as one cannot be asked to', async () => {
    const { server, send } = withTask(() => '');
    server.tool('never', {}, () => 'done');
    const asked = send('tools/call', { name: 'never' }, { task: { requested: true } });
    await expect(asked).rejects.toMatchObject({
      code: 'METHOD_NOT_FOUND',
      details: { method: 'tools/call as a task' },
    });
    const allowed = await send('tools/call', { name: 'never' }, { task: { requested: false } });
    expect(allowed).toMatchObject({ isError: false });
  });

  it('a tool call is listed with its support for tasks', async () => {
    const { server, send } = withTask(() => '');
    const list = await send('tools/list', {});
    expect(list['tools']).toMatchObject([{ name: 't', execution: { taskSupport: 'optional' } }]);
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
    expect(server.capabilities(fakeClient())).toMatchObject({ tasks });
  });

  it('a tool call has no methods for tasks where no tool runs as one', async () => {
    const server = new Server({ name: 'test', version: '1' });
    server.tool('a', {}, () => '');
    expect(server.capabilities(fakeClient())).not.toHaveProperty('tasks');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/update', 'tasks/cancel', 'tasks/list']) {
      const asked = answerOf(server, new FakeExchange(method, { params: { taskId: 'x' } }));
      await expect(asked).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND' });
    }
  });
});

describe('a task', () => {
  it('ends with the result of its call', async () => {
    const { send, start, told } = withTask(() => ({ content: [], _meta: { own: 1 } }));
    const taskId = await start();
    const result = await send('tasks/result', { taskId });
    expect(result).toEqual({ content: [], isError: false, _meta: { own: 1, [RELATED]: { taskId } } });
    const stored = { content: [], isError: false, _meta: { own: 1 } };
    expect(await send('tasks/get', { taskId })).toMatchObject({ status: 'completed', result: stored });
    expect(told.map(({ status }) => status)).toEqual(['completed']);
  });

  it('a task is completed also when its tool failed', async () => {
    const { send, start } = withTask(() => Promise.reject(new Error('No luck')));
    const taskId = await start();
    expect(await send('tasks/result', { taskId })).toMatchObject({ isError: true });
    expect(await send('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
  });

  it.each([
    [new ProtocolError(-32042, 'Mine', { a: 1 }), { code: -32042, message: 'Mine', data: { a: 1 } }],
    [new ProtocolError(-1, 'Bare'), { code: -1, message: 'Bare' }],
    [new GatewayError('INTERNAL', {}, { cause: 'secret' }), { code: -32603, message: 'Internal error' }],
    [
      new GatewayError('RESOURCE_NOT_FOUND', { uri: 'a:' }),
      { code: -32002, message: 'Resource not found: a:', data: { uri: 'a:' } },
    ],
  ])('fails with %s', async (error, wire) => {
    const { send, start } = withTask(() => {
      throw error;
    });
    const taskId = await start();
    const { data, ...words } = wire as { data?: unknown; code: number; message: string };
    await expect(send('tasks/result', { taskId })).rejects.toMatchObject({ ...words, data });
    const state = await send('tasks/get', { taskId });
    expect(state).toMatchObject({ status: 'failed' });
    expect(state['error']).toEqual(wire);
  });

  it('outlives the request that made it', async () => {
    const { server, send } = withTask(forever);
    const exchange = new FakeExchange('tools/call', { params: { name: 't' }, task: { requested: true } });
    const { taskId } = (await answerOf(server, exchange))['task'] as TaskState;
    exchange.controller.abort();
    await turn();
    expect(await send('tasks/get', { taskId })).toMatchObject({ status: 'working' });
  });

  it('says how it goes, and drops what belongs to a request', async () => {
    const { server, send, clock, told } = withTask(async (_, call) => {
      clock.advance(1000);
      call.status('Half-way');
      call.progress(1, 2);
      call.log('info', 'x');
      call.notify('notifications/x');
      call.releaseStream();
      await forever({}, call);
    });
    const exchange = new FakeExchange('tools/call', { params: { name: 't' }, task: { requested: true } });
    const { taskId } = (await answerOf(server, exchange))['task'] as TaskState;
    await turn();
    const state = { status: 'working', statusMessage: 'Half-way', lastUpdatedAt: '2030-01-01T00:00:01.000Z' };
    expect(await send('tasks/get', { taskId })).toMatchObject(state);
    expect(told).toMatchObject([state]);
    const sent = [exchange.progressed, exchange.logged, exchange.notified, exchange.released];
    expect(sent).toEqual([[], [], [], []]);
  });

  it('a task can be cancelled once, which its handler hears', async () => {
    let heard: unknown;
    const { send, start, told } = withTask(async (args, call) => {
      call.signal.addEventListener('abort', () => (heard = call.signal.reason));
      await forever(args, call);
    });
    const taskId = await start();
    await turn();
    expect(await send('tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' });
    await turn();
    expect(heard).toMatchObject({ code: 'CANCELLED' });
    expect(told.map(({ status }) => status)).toEqual(['cancelled']);
    const details = { parameter: 'taskId', error: 'Task is already cancelled' };
    await expect(send('tasks/cancel', { taskId })).rejects.toMatchObject({ code: 'INVALID_PARAMS', details });
    await expect(send('tasks/result', { taskId })).rejects.toMatchObject({ code: 'INVALID_PARAMS', details });
  });

  it('a task that is cancelled before it began never begins', async () => {
    let began = false;
    const { send, start } = withTask(() => void (began = true));
    const taskId = await start();
    await send('tasks/cancel', { taskId });
    await turn();
    expect(began).toBe(false);
  });
});

describe('the owner of tasks', () => {
  it('sees them in pages, without payloads', async () => {
    const { send, start } = withTask(() => 'done', { pageSize: 1 });
    const ids = [await start(), await start()];
    await send('tasks/result', { taskId: ids[1] });
    const first = await send('tasks/list', {});
    const second = await send('tasks/list', { cursor: first['nextCursor'] });
    expect([first['tasks'], second['tasks']]).toMatchObject([[{ taskId: ids[0] }], [{ taskId: ids[1] }]]);
    expect((second['tasks'] as unknown[])[0]).not.toHaveProperty('result');
    expect(second).not.toHaveProperty('nextCursor');
  });

  it('the owner of tasks is the only one who sees them', async () => {
    const { send, start } = withTask(forever);
    const taskId = await start();
    const client = { principal: 'mallory' };
    const unknown = { code: 'TASK_NOT_FOUND', details: { taskId } };
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']) {
      await expect(send(method, { taskId, inputResponses: {} }, { client })).rejects.toMatchObject(unknown);
    }
    expect(await send('tasks/list', {}, { client })).toEqual({ tasks: [] });
    expect(await send('tasks/get', { taskId })).toMatchObject({ status: 'working' });
  });

  it('the owner of tasks can have so many and no more, until some expire', async () => {
    const { start, clock } = withTask(() => 'done', { limits: { maxTasks: 2, taskTtlMs: 1000 } });
    await start({ task: { requested: true, ttl: 10 } });
    await start();
    const refused = { code: 'TOO_MANY', details: { what: 'tasks', limit: 'maxTasks' } };
    await expect(start()).rejects.toMatchObject(refused);
    await expect(start({ client: { principal: 'bob' } })).resolves.toBeTypeOf('string');
    clock.advance(10);
    await expect(start()).resolves.toBeTypeOf('string');
  });

  it.each([{}, { taskId: 1 }])('the owner of tasks must name the task, not %j', async (params) => {
    const { send } = withTask(forever);
    await expect(send('tasks/get', params)).rejects.toMatchObject({ details: { parameter: 'taskId' } });
  });
});

describe('a task that expires', () => {
  it('lives as long as was asked for, but not longer than allowed', async () => {
    const { send, start } = withTask(forever, { limits: { taskTtlMs: 1000 } });
    const ttl = async (ttl?: number) => {
      const taskId = await start({ task: { requested: true, ttl } });
      return (await send('tasks/get', { taskId }))['ttlMs'];
    };
    expect([await ttl(10), await ttl(5000), await ttl(), await ttl(-1)]).toEqual([10, 1000, 1000, 1000]);
  });

  it('a task that expires is forgotten and stopped, by one timer for all', async () => {
    let stopped = 0;
    const { send, start, clock } = withTask(async (_, call) => {
      call.signal.addEventListener('abort', () => (stopped += 1));
      await forever({}, call);
    });
    const late = await start({ task: { requested: true, ttl: 100 } });
    const early = await start({ task: { requested: true, ttl: 50 } });
    await turn();
    expect(clock.timers).toBe(1);
    const waiting = send('tasks/result', { taskId: early });
    clock.advance(50);
    await expect(waiting).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(send('tasks/get', { taskId: early })).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(await send('tasks/list', {})).toMatchObject({ tasks: [{ taskId: late }] });
    expect([stopped, clock.timers]).toEqual([1, 1]);
    clock.advance(50);
    expect([stopped, clock.timers]).toEqual([2, 0]);
  });

  it('a task that expires is gone with all others when the server drops them', async () => {
    const { server, send, start, clock, told } = withTask(forever);
    const taskId = await start();
    server.dropTasks();
    await expect(send('tasks/get', { taskId })).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(clock.timers).toBe(0);
    expect(told).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('a question within a task', () => {
  const asking = async (_: JsonObject, call: Call) => {
    const roots = (await call.ask.roots({ key: 'where' })).map(({ uri }) => uri);
    const schema = { name: { type: 'string' } };
    const answers = await Promise.all(['A', 'B'].map((message) => call.ask.elicit({ message, schema, key: 'where' })));
    return [roots, ...answers.map(({ action }) => action)].join(' ');
  };
  const roots = { roots: [{ uri: 'file:///a' }] };
  const done = { content: [{ type: 'text', text: 'file:///a accept decline' }], isError: false };

  it('waits in the state under a key of its own until an update answers it', async () => {
    const { send, start, told } = withTask(asking);
    const taskId = await start(canBeAsked);
    await turn();
    const state = await send('tasks/get', { taskId });
    expect(state).toMatchObject({ status: 'input_required', inputRequests: { where: { method: 'roots/list' } } });
    const inputResponses = { where: roots, unknown: {} };
    expect(await send('tasks/update', { taskId, inputResponses })).toEqual({});
    expect(await send('tasks/update', { taskId, inputResponses })).toEqual({});
    await turn();
    const again = await send('tasks/get', { taskId });
    const form = { method: 'elicitation/create', params: { mode: 'form' } };
    expect(again['inputRequests']).toMatchObject({ 'where-2': form, 'where-3': form });
    await send('tasks/update', { taskId, inputResponses: { 'where-3': { action: 'decline' } } });
    expect(await send('tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    await send('tasks/update', { taskId, inputResponses: { 'where-2': { action: 'accept' } } });
    expect(await send('tasks/get', { taskId })).not.toHaveProperty('inputRequests');
    expect(await send('tasks/result', { taskId })).toMatchObject(done);
    expect(told.map(({ status }) => status).join(' ')).toBe(
      'input_required working input_required input_required input_required working completed',
    );
  });

  it('a question within a task must be answered by objects', async () => {
    const { send, start } = withTask(asking);
    const taskId = await start(canBeAsked);
    await turn();
    const details = { parameter: 'inputResponses.where', error: 'Must be an object' };
    const wrong = send('tasks/update', { taskId, inputResponses: { where: 'yes' } });
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_PARAMS', details });
    const missing = { details: { parameter: 'inputResponses', error: 'Required parameter missing' } };
    await expect(send('tasks/update', { taskId })).rejects.toMatchObject(missing);
  });

  it('a question within a task is asked of the client that waits for the result', async () => {
    const { server, start } = withTask(asking);
    const taskId = await start(canBeAsked);
    const answer = ({ method, params }: Ask) =>
      method === 'roots/list' ? roots : { action: params?.['message'] === 'A' ? 'accept' : 'decline' };
    const waiting = new FakeExchange('tasks/result', { params: { taskId }, answer });
    expect(await answerOf(server, waiting)).toMatchObject(done);
    const params = { _meta: { [RELATED]: { taskId } } };
    expect(waiting.asked).toMatchObject([
      { method: 'roots/list', key: 'where', params },
      { method: 'elicitation/create', key: 'where-2', params: { ...params, message: 'A' } },
      { method: 'elicitation/create', key: 'where-3', params },
    ]);
  });

  it('a question within a task is asked of one client at a time, and of the next one when that one goes away', async () => {
    const { server, start } = withTask(async (_, call) => String((await call.ask.roots()).length));
    const taskId = await start(canBeAsked);
    const gone = new GatewayError('CANCELLED');
    const first = new FakeExchange('tasks/result', {
      params: { taskId },
      answer: () => new Promise((_, reject) => first.controller.signal.addEventListener('abort', () => reject(gone))),
    });
    const mute = new FakeExchange('tasks/result', { params: { taskId } });
    const second = new FakeExchange('tasks/result', { params: { taskId }, answer: () => roots });
    const ends = [first, mute, second].map((exchange) => answerOf(server, exchange));
    const failed = expect(ends[0]).rejects.toMatchObject({ code: 'CANCELLED' });
    await turn();
    expect([first, mute, second].map(({ asked }) => asked.length)).toEqual([1, 0, 0]);
    first.controller.abort();
    await failed;
    expect(await ends[1]).toMatchObject({ content: [{ text: '1' }] });
    expect(await ends[2]).toMatchObject({ content: [{ text: '1' }] });
    expect([mute, second].map(({ asked }) => asked.length)).toEqual([0, 1]);
  });

  it('a question within a task that the waiting client refuses is refused to the handler', async () => {
    const { send, start } = withTask(async (_, call) => String(await call.ask.roots()));
    const taskId = await start(canBeAsked);
    const refusal = new GatewayError('ASK_REFUSED', { method: 'roots/list', reason: 'no' });
    const result = await send('tasks/result', { taskId }, { answer: () => Promise.reject(refusal) });
    expect(result).toMatchObject({ isError: true, content: [{ text: refusal.message }] });
  });

  it('a question within a task cannot be asked when the client cannot be asked, and a ping never', async () => {
    const { send, start } = withTask(async (_, call) => void (await call.ask.roots()));
    const taskId = await start();
    const data = { what: 'roots/list', requiredCapabilities: { roots: {} } };
    await expect(send('tasks/result', { taskId })).rejects.toMatchObject({ code: -32021, data });
    const pinging = withTask(async (_, call) => call.ask.ping());
    const other = await pinging.start(canBeAsked);
    await expect(pinging.send('tasks/result', { taskId: other })).rejects.toMatchObject({ code: -32021 });
  });

  it('ends with its task', async () => {
    let ended: unknown;
    const { send, start } = withTask(async (_, call) => {
      await call.ask.roots().catch((error: unknown) => (ended = error));
      await call.ask.roots().catch((error: unknown) => (ended = [ended, error]));
    });
    const taskId = await start(canBeAsked);
    await turn();
    expect(await send('tasks/cancel', { taskId })).not.toHaveProperty('inputRequests');
    await turn();
    expect(ended).toMatchObject([{ code: 'CANCELLED' }, { code: 'CANCELLED' }]);
  });

  it('a question within a task is not waited for by a request that was cancelled before', async () => {
    const { server, start } = withTask(forever);
    const late = new FakeExchange('tasks/result', { params: { taskId: await start() } });
    late.controller.abort();
    await expect(answerOf(server, late)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
