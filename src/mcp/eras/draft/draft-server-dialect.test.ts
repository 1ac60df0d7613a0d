import { expect, test } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import type { RecordedCall } from '../fake-wire.contract.ts';
import { FakeWire, fakeEvents, settled } from '../fake-wire.contract.ts';
import { DraftServerDialect } from './draft-server-dialect.ts';

function setUp(answer: (call: RecordedCall) => unknown, confirm?: () => unknown) {
  const wire = new FakeWire(answer);
  const events = fakeEvents(confirm);
  const server = {
    ...SPEAKING.draft,
    revision: '2025-06-18',
    info: { name: 's', version: '1' },
    capabilities: {},
  } as const;
  return { wire, events, dialect: new DraftServerDialect(wire, server, events) };
}

const note = (method: string, params = {}) => ({ jsonrpc: '2.0' as const, method, params });

test('a bare array of a draft server becomes a page of a list', async () => {
  const { dialect } = setUp(({ method }) =>
    method === 'tools/list' ? [{ name: 'a' }] : { resources: [{ name: 'r' }] },
  );
  expect(await dialect.call({ method: 'tools/list' })).toEqual({ tools: [{ name: 'a' }] });
  expect(await dialect.call({ method: 'resources/list' })).toEqual({ resources: [{ name: 'r' }] });
});

test.each([null, 5, 'x', {}])('the list %j of a draft server is read as empty', async (answer) => {
  const { dialect } = setUp(() => answer);
  const { tools } = await dialect.call({ method: 'tools/list' });
  expect(Array.isArray(tools) && tools.length > 0).toBe(false);
});

test('a call is sent as tools/invoke and cancelled with the draft notification', async () => {
  const { wire, dialect } = setUp(() => ({ type: 'success', value: 3 }));
  await dialect.call({ method: 'tools/call', params: { name: 'add', arguments: { a: 1 } } });
  expect(wire.calls[0]).toMatchObject({ method: 'tools/invoke', params: { name: 'add', arguments: { a: 1 } } });
  expect(wire.calls[0]?.cancelNotice(9, { reason: 'late' })).toEqual({
    jsonrpc: '2.0',
    method: 'cancel',
    params: { id: 9 },
  });
});

test.each([
  [{ text: 'hi' }, [{ type: 'text', text: 'hi' }]],
  [{ text: '', content: [{ type: 'image' }] }, [{ type: 'image' }]],
  [{ a: 1 }, [{ type: 'text', text: '{"a":1}' }]],
  [{ text: 'hi', a: 1 }, [{ type: 'text', text: '{"text":"hi","a":1}' }]],
  ['plain', [{ type: 'text', text: 'plain' }]],
])('the output %j of a draft server becomes content', async (output, content) => {
  const { dialect } = setUp(() => ({ status: 'success', output }));
  expect(await dialect.call({ method: 'tools/call' })).toMatchObject({ content, isError: false });
});

test.each(['prompts/list', 'resources/read', 'completion/complete', 'tasks/get'])(
  '%s does not exist here',
  async (method) => {
    const { wire, dialect } = setUp(() => ({}));
    await expect(dialect.call({ method })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expect(wire.calls).toEqual([]);
  },
);

test('a draft server’s questions are refused and its pings answered', async () => {
  const { wire, dialect } = setUp(() => ({}));
  dialect.onRequest({ jsonrpc: '2.0', id: 1, method: 'elicitation/create' });
  dialect.onRequest({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await settled();
  expect(wire.responded).toMatchObject([
    { id: 1, error: { code: -32601 } },
    { id: 2, result: {} },
  ]);
});

test('change notifications of a draft server carry the difference', () => {
  const { dialect, events } = setUp(() => ({}));
  dialect.onNotification(note('tools/changed', { added: [{ name: 'a' }], removed: ['b'] }));
  dialect.onNotification(note('tools/changed', { added: 5 }));
  dialect.onNotification(note('resources/changed', { updated: ['r'] }));
  dialect.onNotification(note('resources/changed'));
  expect(events.changes).toEqual([
    { kind: 'tools', added: [{ name: 'a' }], removed: ['b'], isClaimed: true },
    { kind: 'tools', added: [], removed: [], isClaimed: true },
    { kind: 'resource', uri: 'r', name: 'r' },
  ]);
});

test('a draft server gets no subscriptions, log levels or MCP notifications', async () => {
  const { wire, dialect } = setUp(() => ({}));
  await dialect.subscribe();
  await dialect.unsubscribe();
  await dialect.notify('notifications/roots/list_changed');
  await expect(dialect.setLogLevel()).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  await dialect.notify('interaction.event', { a: 1 });
  expect([wire.calls, wire.notified]).toEqual([[], [note('interaction.event', { a: 1 })]]);
});

test('leaving says goodbye, even to a server that does not answer', async () => {
  const { wire, dialect } = setUp(() => {
    throw new Error('gone');
  });
  await dialect.leave();
  expect([wire.methods, wire.calls[0]?.timeoutMs, wire.notified]).toEqual([
    ['shutdown'],
    1000,
    [{ jsonrpc: '2.0', method: 'exit' }],
  ]);
});

test('a message about an interactive session pauses no timeout', async () => {
  const { wire, events, dialect } = setUp(
    () => ({}),
    () => new Promise(() => {}),
  );
  dialect.onRequest({ jsonrpc: '2.0', id: 1, method: 'interaction.prompt', params: { sessionId: 's' } });
  await settled();
  expect([events.asks.length, wire.paused]).toEqual([1, 0]);
});

test('progress of a draft server names the request and its percent, and other notifications are not progress', () => {
  const { dialect } = setUp(() => ({}));
  expect(dialect.readProgress(note('progress', { id: 1, percent: 50, message: 'half' }))).toEqual({
    token: 1,
    progress: { progress: 50, total: 100, message: 'half' },
  });
  expect(dialect.readProgress(note('progress', { id: 1, percent: 'half' }))).toEqual({ token: 1, progress: undefined });
  expect(dialect.readProgress(note('tools/changed'))).toBeUndefined();
});
