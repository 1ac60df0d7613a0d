import { describe, expect, test } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import type { RecordedCall } from '../fake-wire.contract.ts';
import { FakeWire, fakeEvents, settled } from '../fake-wire.contract.ts';
import { META } from '../meta.ts';
import { StatelessServerDialect } from './stateless-server-dialect.ts';

const identity = { info: { name: 'me', version: '1' }, capabilities: { elicitation: { form: {} } } };

function setUp(answer: (call: RecordedCall) => unknown, { http = true } = {}) {
  const wire = new FakeWire(answer, { http });
  const handler = { answer: (_: unknown, __: AbortSignal): unknown => ({ action: 'accept' }) };
  const events = fakeEvents((ask, signal) => handler.answer(ask, signal));
  const server = {
    ...SPEAKING.stateless,
    revision: '2026-07-28',
    info: { name: 's', version: '1' },
    capabilities: {},
  } as const;
  return { wire, events, handler, dialect: new StatelessServerDialect(wire, server, identity, events) };
}

const asks = (inputRequests?: unknown, requestState?: unknown) => ({
  resultType: 'input_required',
  inputRequests,
  requestState,
});
const form = { method: 'elicitation/create', params: { message: 'Which?' } };
const call = { method: 'tools/call', params: { name: 'a', arguments: { x: 1 } } };
const sent = (called: RecordedCall | undefined) => {
  const { _meta, ...rest } = called?.params ?? {};
  return rest;
};

describe('a request', () => {
  test('carries its envelope, foreign keys, trace, level and token', async () => {
    const { wire, dialect } = setUp(() => ({ resultType: 'complete', content: [] }));
    await dialect.setLogLevel('debug');
    const params = { ...call.params, _meta: { mine: 1, [META.protocolVersion]: 'lie' } };
    const result = await dialect.call({ ...call, params, trace: { traceparent: '00-1' }, onProgress() {} });
    expect(result).toEqual({ content: [] });
    expect(wire.calls[0]?.params?._meta).toEqual({
      mine: 1,
      traceparent: '00-1',
      [META.protocolVersion]: '2026-07-28',
      [META.clientInfo]: identity.info,
      [META.clientCapabilities]: identity.capabilities,
      [META.logLevel]: 'debug',
      progressToken: 1,
    });
    expect(wire.calls[0]?.headers).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'a',
    });
    expect(wire.calls[0]?.cancelByStream).toBe(true);
  });

  test('has no headers without HTTP', async () => {
    const { wire, dialect } = setUp(() => ({}), { http: false });
    await dialect.call(call);
    expect(wire.calls[0]?.headers).toBeUndefined();
  });

  test('to ping is sent as server/discover', async () => {
    const { wire, dialect } = setUp(() => ({ supportedVersions: [] }));
    expect(await dialect.call({ method: 'ping' })).toEqual({});
    expect(wire.methods).toEqual(['server/discover']);
  });

  test('that became a task returns the task', async () => {
    const { dialect } = setUp(() => ({ resultType: 'task', taskId: 't', status: 'working' }));
    expect(await dialect.call(call)).toEqual({ task: { taskId: 't', status: 'working' } });
  });

  test('that became a task after it was cancelled cancels the task', async () => {
    const { wire, dialect } = setUp(() => ({}));
    await dialect.call(call);
    wire.calls[0]?.onLate?.({ resultType: 'complete' });
    wire.calls[0]?.onLate?.({ resultType: 'task', taskId: 't' });
    await settled();
    expect(wire.calls.slice(1)).toMatchObject([{ method: 'tasks/cancel', params: { taskId: 't' } }]);
  });

  test.each([
    ['an unknown resultType', { resultType: 'later' }],
    ['no object', []],
    ['nothing', null],
  ])('that is answered with %s is an error', async (_, answer) => {
    const { dialect } = setUp(() => answer);
    await expect(dialect.call(call)).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
  });

  test('receives its own log messages and notifications', async () => {
    const { wire, dialect, events } = setUp(() => ({}));
    const heard: string[] = [];
    await dialect.call({ ...call, onNotify: ({ method }) => heard.push(method) });
    wire.calls[0]?.onNotify?.({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
    wire.calls[0]?.onNotify?.({ jsonrpc: '2.0', method: 'notifications/custom' });
    expect([heard, events.changes.length]).toEqual([['notifications/custom'], 1]);
  });
});

describe('questions', () => {
  test('are answered with a retry that carries the state unchanged and no earlier answers', async () => {
    const rounds = [
      asks({ k: form }, 'state-1'),
      asks({ l: { method: 'roots/list' } }),
      asks(undefined, 'state-3'),
      { content: [] },
    ];
    const { wire, dialect, events, handler } = setUp(() => rounds.shift());
    handler.answer = (ask) => ({ to: (ask as { key: string }).key });
    expect(await dialect.call(call)).toEqual({ content: [] });
    expect(events.asks).toEqual([
      { method: 'elicitation/create', params: { message: 'Which?' }, key: 'k' },
      { method: 'roots/list', key: 'l' },
    ]);
    expect(wire.calls.map(sent)).toEqual([
      call.params,
      { ...call.params, inputResponses: { k: { to: 'k' } }, requestState: 'state-1' },
      { ...call.params, inputResponses: { l: { to: 'l' } } },
      { ...call.params, requestState: 'state-3' },
    ]);
  });

  test('can be answered by the caller', async () => {
    const rounds = [asks({ k: form }), {}];
    const { dialect, events } = setUp(() => rounds.shift());
    const asked: string[] = [];
    await dialect.call({
      ...call,
      async ask({ key }) {
        asked.push(String(key));
        return {};
      },
    });
    expect([asked, events.asks]).toEqual([['k'], []]);
  });

  test.each([
    ['nothing at all', asks()],
    ['a state that is not a string', asks({ k: form }, 5)],
    ['a list', asks([form])],
    ['something that is not a question', asks({ k: 'what?' })],
    ['a question with odd params', asks({ k: { method: 'roots/list', params: [] } })],
  ])('that are %s are an error, and the user is not asked', async (_, answer) => {
    const { dialect, events, wire } = setUp(() => answer);
    await expect(dialect.call(call)).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
    expect([events.asks, wire.calls.length]).toEqual([[], 1]);
  });

  test('are accepted only for methods that may ask', async () => {
    const { dialect } = setUp(() => asks({ k: form }));
    await expect(dialect.call({ method: 'tools/list' })).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
  });

  test('are limited, and the user is not asked beyond the limit', async () => {
    const { dialect, events, wire } = setUp(() => asks({ k: form }));
    await expect(dialect.call(call)).rejects.toThrow('asked more than 64 times');
    expect([events.asks.length, wire.calls.length]).toEqual([64, 65]);
  });

  test('that are refused end the call and its other questions', async () => {
    const { dialect, handler, wire } = setUp(() => asks({ k: form, l: { method: 'roots/list' } }));
    const signals: AbortSignal[] = [];
    handler.answer = (ask, signal) => {
      signals.push(signal);
      if ((ask as { key: string }).key === 'k') throw new GatewayError('NOT_APPROVED', { what: 'elicitation' });
      return new Promise(() => {});
    };
    await expect(dialect.call(call)).rejects.toMatchObject({ code: 'NOT_APPROVED' });
    expect([wire.calls.length, signals.map(({ aborted }) => aborted)]).toEqual([1, [true, true]]);
  });

  test('end when the caller cancels', async () => {
    const { dialect, handler, wire } = setUp(() => asks({ k: form }));
    const controller = new AbortController();
    handler.answer = () => new Promise(() => {});
    const result = dialect.call({ ...call, signal: controller.signal });
    await settled();
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(wire.calls).toHaveLength(1);
  });

  test('pause only the timeout of their own call', async () => {
    const rounds = [asks({ k: form }), {}];
    const { dialect, handler, wire } = setUp(() => rounds.shift());
    handler.answer = () => ({ paused: wire.paused });
    await dialect.call(call);
    expect(sent(wire.calls[1]).inputResponses).toEqual({ k: { paused: 0 } });
  });
});

describe('headers that mirror arguments', () => {
  const schema = { type: 'object', properties: { x: { type: 'integer', 'x-mcp-header': 'X' } } };
  const page = (name: string, nextCursor?: string): JsonObject => ({
    tools: [{ name, inputSchema: schema }],
    nextCursor,
  });

  test('are sent once the tool is known', async () => {
    const { wire, dialect } = setUp(({ method }) => (method === 'tools/list' ? page('a') : {}));
    await dialect.call(call);
    await dialect.call({ method: 'tools/list' });
    await dialect.call(call);
    expect(wire.calls.map(({ headers }) => headers?.['mcp-param-x'])).toEqual([undefined, undefined, '1']);
  });

  test('are reloaded from every page after a mismatch, and the call is retried', async () => {
    const pages = [page('b', 'p2'), page('a')];
    const { wire, dialect } = setUp(({ method, headers }) => {
      if (method === 'tools/list') return pages.shift();
      if (headers?.['mcp-param-x'] === undefined) throw new ProtocolError(-32020, 'Header mismatch');
      return { content: [] };
    });
    expect(await dialect.call(call)).toEqual({ content: [] });
    expect(wire.methods).toEqual(['tools/call', 'tools/list', 'tools/list', 'tools/call']);
    expect(wire.calls[2]?.params).toMatchObject({ cursor: 'p2' });
  });

  test('that still do not match are tried only once', async () => {
    const { wire, dialect } = setUp(({ method }) => {
      if (method === 'tools/list') return page('other', 'same');
      throw new ProtocolError(-32020, 'Header mismatch');
    });
    await expect(dialect.call(call)).rejects.toMatchObject({ code: -32020 });
    expect(wire.methods.filter((method) => method === 'tools/call')).toHaveLength(2);
    expect(wire.calls.length).toBeLessThan(6);
  });

  test('that do not match after a question do not repeat the call', async () => {
    const { wire, events, dialect } = setUp(({ method, params }) => {
      if (method === 'tools/list') return page('a');
      if (params?.inputResponses === undefined) return asks({ q: form });
      throw new ProtocolError(-32020, 'Header mismatch');
    });
    await expect(dialect.call(call)).rejects.toMatchObject({ code: -32020 });
    expect(events.asks).toHaveLength(1);
    expect(wire.methods).toEqual(['tools/call', 'tools/call', 'tools/list', 'tools/call']);
  });
});

describe('requests from a stateless server', () => {
  test('are refused on a shared channel', async () => {
    const { wire, dialect } = setUp(() => ({}), { http: false });
    dialect.onRequest({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
    expect(wire.responded).toMatchObject([{ id: 1, error: { code: -32601 } }]);
  });

  test('are dropped on HTTP, where a POST cannot carry a response', async () => {
    const { wire, dialect } = setUp(() => ({}));
    dialect.onRequest({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
    expect(wire.responded).toEqual([]);
  });
});

test('handshake notifications are not sent to a stateless server', async () => {
  const { wire, dialect } = setUp(() => ({}));
  await dialect.notify('notifications/roots/list_changed');
  await dialect.notify('interaction.event', { a: 1 });
  expect(wire.notified).toEqual([{ jsonrpc: '2.0', method: 'interaction.event', params: { a: 1 } }]);
});

test('a custom notification is sent in an envelope', async () => {
  const { wire, dialect } = setUp(() => ({}));
  await dialect.notify('notifications/acme/told', { a: 1, _meta: { b: 2 } });
  expect(wire.notified).toMatchObject([
    { method: 'notifications/acme/told', params: { a: 1, _meta: { b: 2, [META.protocolVersion]: '2026-07-28' } } },
  ]);
});
