import { describe, expect, test } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { RecordedCall } from '../fake-wire.contract.ts';
import { FakeWire, fakeEvents, later, settled } from '../fake-wire.contract.ts';
import { HandshakeServerDialect } from './handshake-server-dialect.ts';

const TASKS = { tasks: { requests: { tools: { call: {} } } } };

function setUp(
  answer: (call: RecordedCall) => unknown = () => ({}),
  { capabilities = {}, revision = '2025-11-25' } = {},
) {
  const wire = new FakeWire(answer);
  const handler = { answer: (_: unknown, __: AbortSignal): unknown => ({ action: 'accept' }) };
  const events = fakeEvents((ask, signal) => handler.answer(ask, signal));
  const server = { ...SPEAKING.handshake, revision, info: { name: 's', version: '1' }, capabilities } as const;
  return { wire, events, handler, dialect: new HandshakeServerDialect(wire, server, events) };
}

const request = (method: string, params = {}, id: number | string = 7) => ({
  jsonrpc: '2.0' as const,
  id,
  method,
  params,
});
const note = (method: string, params = {}) => ({ jsonrpc: '2.0' as const, method, params });

describe('a call', () => {
  test('passes its params, trace and progress token, and the result as it came', async () => {
    const { wire, dialect } = setUp(() => ({ content: [], extra: 1 }));
    const params = { name: 'a', _meta: { mine: true } };
    const trace = { traceparent: '00-1' };
    expect(await dialect.call({ method: 'tools/call', params, trace, onProgress() {} })).toEqual({
      content: [],
      extra: 1,
    });
    expect(wire.calls[0]?.params).toEqual({ name: 'a', _meta: { mine: true, traceparent: '00-1', progressToken: 1 } });
    await dialect.call({ method: 'tools/call', params });
    expect(wire.calls[1]?.params).toBe(params);
  });

  test.each([[[]], [null], ['text'], [5]])('that is answered with %j is an error', async (answer) => {
    const { dialect } = setUp(() => answer);
    await expect(dialect.call({ method: 'tools/list' })).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
  });

  test('asks for a task only where the server can run one', async () => {
    const task = { ttl: 5 };
    const able = setUp(undefined, { capabilities: TASKS });
    await able.dialect.call({ method: 'tools/call', params: { name: 'a' }, task });
    expect(able.wire.calls[0]?.params).toEqual({ name: 'a', task: { ttl: 5 } });
    const unable = setUp();
    await unable.dialect.call({ method: 'tools/call', params: { name: 'a' }, task });
    const older = setUp(undefined, { capabilities: TASKS, revision: '2025-06-18' });
    await older.dialect.call({ method: 'tools/call', params: { name: 'a' }, task });
    for (const { wire } of [unable, older]) expect(wire.calls[0]?.params).toEqual({ name: 'a' });
  });

  test('that is cancelled before its task is known cancels the task afterwards', async () => {
    const { wire, dialect } = setUp(() => later, { capabilities: TASKS });
    const controller = new AbortController();
    const call = dialect.call({ method: 'tools/call', task: {}, signal: controller.signal });
    await settled();
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(wire.calls[0]?.signal).toBeUndefined();
    wire.calls[0]?.resolve({ task: { taskId: 't', status: 'working' } });
    await settled();
    expect(wire.calls[1]).toMatchObject({ method: 'tasks/cancel', params: { taskId: 't' } });
    await expect(dialect.call({ method: 'tools/call', task: {}, signal: controller.signal })).rejects.toThrow();
    expect(wire.calls).toHaveLength(2);
  });

  test('converts tasks to the neutral form', async () => {
    const task = { taskId: 't', status: 'working', ttl: 9, pollInterval: 3, createdAt: 'x', lastUpdatedAt: 'y' };
    const { dialect } = setUp(({ method }) =>
      method === 'tools/call' ? { task } : method === 'tasks/list' ? { tasks: [task] } : task,
    );
    const neutral = { taskId: 't', status: 'working', ttlMs: 9, pollIntervalMs: 3, createdAt: 'x', lastUpdatedAt: 'y' };
    expect(await dialect.call({ method: 'tools/call' })).toEqual({ task: neutral });
    expect(await dialect.call({ method: 'tasks/get' })).toEqual(neutral);
    expect(await dialect.call({ method: 'tasks/list' })).toEqual({ tasks: [neutral] });
    await expect(dialect.call({ method: 'tasks/update' })).rejects.toMatchObject({ code: -32601 });
  });
});

describe('a question', () => {
  test('is answered under its id, and timeouts are paused meanwhile', async () => {
    const { wire, dialect, events, handler } = setUp();
    let paused = 0;
    handler.answer = () => {
      paused = wire.paused;
      return { action: 'decline' };
    };
    dialect.onRequest(request('elicitation/create', { message: 'Hi', _meta: { x: 1 } }, 'seven'));
    await settled();
    expect(events.asks).toEqual([{ method: 'elicitation/create', params: { message: 'Hi', _meta: { x: 1 } } }]);
    expect(wire.responded).toEqual([{ jsonrpc: '2.0', id: 'seven', result: { action: 'decline' } }]);
    expect([paused, wire.paused]).toEqual([1, 0]);
  });

  test('about an interactive session pauses no timeout', async () => {
    const { wire, events, handler, dialect } = setUp();
    handler.answer = () => new Promise(() => {});
    dialect.onRequest(request('interaction.prompt', { sessionId: 's' }));
    await settled();
    expect([events.asks.length, wire.paused]).toEqual([1, 0]);
  });

  test('is refused while too many are open, even if all have one id', async () => {
    const { wire, dialect, handler } = setUp();
    const answers: ((answer: object) => void)[] = [];
    handler.answer = () => new Promise((resolve) => answers.push(resolve));
    for (let count = 0; count < 1025; count++) dialect.onRequest(request('elicitation/create'));
    await settled();
    expect(answers).toHaveLength(1024);
    expect(wire.responded).toMatchObject([{ id: 7, error: { message: expect.stringContaining('Too many') } }]);
    answers[0]!({ action: 'decline' });
    await settled();
    dialect.onRequest(request('elicitation/create'));
    await settled();
    expect(answers).toHaveLength(1025);
  });

  test('that the user refuses is answered with -1', async () => {
    const { wire, dialect, handler } = setUp();
    handler.answer = () => {
      throw new GatewayError('NOT_APPROVED', { what: 'sampling' });
    };
    dialect.onRequest(request('sampling/createMessage'));
    await settled();
    expect(wire.responded).toMatchObject([{ id: 7, error: { code: -1 } }]);
    expect(wire.paused).toBe(0);
  });

  test('whose handler fails is answered without the handler’s message', async () => {
    const { wire, dialect, handler } = setUp();
    handler.answer = () => {
      throw new Error('password is hunter2');
    };
    dialect.onRequest(request('sampling/createMessage'));
    await settled();
    expect(wire.responded).toMatchObject([{ error: { code: -32603 } }]);
    expect(JSON.stringify(wire.responded)).not.toContain('hunter2');
  });

  test('with a custom method is asked like any other, and a ping is answered', async () => {
    const { wire, dialect, events } = setUp();
    dialect.onRequest(request('acme/ask', { a: 1 }, 1));
    dialect.onRequest(request('ping', {}, 2));
    await settled();
    expect(wire.responded.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(events.asks).toEqual([{ method: 'acme/ask', params: { a: 1 } }]);
  });

  test.each(['on the shared stream', 'on the stream of a call'])(
    'that the server calls off %s is not answered',
    async (where) => {
      const { wire, dialect, handler } = setUp();
      let signal: AbortSignal | undefined;
      let answer: (value: unknown) => void = () => {};
      handler.answer = (_, given) => {
        signal = given;
        return new Promise((resolve) => (answer = resolve));
      };
      await dialect.call({ method: 'tools/call' });
      dialect.onRequest(request('elicitation/create'));
      await settled();
      const cancelled = note('notifications/cancelled', { requestId: 7 });
      if (where === 'on the shared stream') dialect.onNotification(cancelled);
      else wire.calls[0]?.onNotify?.(cancelled);
      expect(signal?.aborted).toBe(true);
      answer({});
      await settled();
      expect([wire.responded, wire.paused]).toEqual([[], 0]);
    },
  );
});

describe('a server’s notification', () => {
  test('becomes a change on any stream', async () => {
    const { wire, dialect, events } = setUp();
    await dialect.call({ method: 'tools/call' });
    dialect.onNotification(note('notifications/tools/list_changed'));
    wire.calls[0]?.onNotify?.(note('notifications/resources/updated', { uri: 'a' }));
    dialect.onNotification(note('notifications/message', { level: 'info', data: 'x' }));
    dialect.onNotification(note('notifications/elicitation/complete', { elicitationId: 'e' }));
    dialect.onNotification(note('notifications/tasks/status', { taskId: 't', status: 'working', ttl: null }));
    expect(events.changes).toEqual([
      { kind: 'tools' },
      { kind: 'resource', uri: 'a' },
      { kind: 'log', entry: { level: 'info', data: 'x' } },
      { kind: 'elicited', elicitationId: 'e' },
      { kind: 'task', principal: '', task: { taskId: 't', status: 'working', ttlMs: null } },
    ]);
  });

  test('that is malformed is ignored', () => {
    const { dialect, events } = setUp();
    for (const odd of [note('notifications/resources/updated', { uri: 5 }), note('notifications/cancelled')]) {
      dialect.onNotification(odd);
    }
    expect(events.changes).toEqual([]);
  });

  test('with a custom method is passed on', () => {
    const { dialect, events } = setUp();
    dialect.onNotification(note('x'));
    dialect.onNotification(note('notifications/acme/news', { a: 1 }));
    expect(events.changes).toEqual([
      { kind: 'notification', method: 'x' },
      { kind: 'notification', method: 'notifications/acme/news', params: { a: 1 } },
    ]);
  });

  test('of one call goes to that call', async () => {
    const { wire, dialect } = setUp();
    const heard: string[] = [];
    await dialect.call({ method: 'tools/call', onNotify: ({ method }) => heard.push(method) });
    wire.calls[0]?.onNotify?.(note('notifications/custom'));
    expect(heard).toEqual(['notifications/custom']);
  });
});

test('subscriptions and log levels are sent as requests', async () => {
  const { wire, dialect } = setUp();
  await dialect.subscribe('a');
  await dialect.unsubscribe('a');
  await dialect.setLogLevel('debug');
  await dialect.notify('notifications/roots/list_changed');
  dialect.watch();
  await dialect.leave();
  expect(wire.calls.map(({ method, params }) => [method, params])).toEqual([
    ['resources/subscribe', { uri: 'a' }],
    ['resources/unsubscribe', { uri: 'a' }],
    ['logging/setLevel', { level: 'debug' }],
  ]);
  expect(wire.notified).toEqual([{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }]);
});
