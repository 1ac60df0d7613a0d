import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import type { RecordedCall } from '../fake-wire.contract.ts';
import { FakeWire, later, settled } from '../fake-wire.contract.ts';
import { META } from '../meta.ts';
import { ListenStream } from './listen-stream.ts';

const ACK = 'notifications/subscriptions/acknowledged';
const note = (method: string, id?: unknown, params: JsonObject = {}) => ({
  jsonrpc: '2.0' as const,
  method,
  params: id === undefined ? params : { ...params, _meta: { [META.subscriptionId]: id } },
});

function setUp(
  answer: (call: RecordedCall) => unknown = () => later,
  { http = false, filter = { toolsListChanged: true } } = {},
) {
  const wire = new FakeWire(answer, { http });
  const told: string[] = [];
  const gaps: JsonObject[] = [];
  const pauses: number[] = [];
  const stream = new ListenStream({
    wire,
    filter,
    revision: '2026-07-28',
    envelope: (params) => params,
    onNotification: ({ method }) => told.push(method),
    onGap: (honoured) => gaps.push(honoured),
    pause: async (ms) => void pauses.push(ms),
  });
  return { wire, told, gaps, pauses, stream };
}

const lost = () => new GatewayError('UPSTREAM_CLOSED', { server: 'x', reason: 'the stream ended' });

describe('the acknowledgement', () => {
  test('names the accepted filter, and nothing is reported before it', async () => {
    const { stream, told, wire } = setUp();
    await settled();
    stream.take(note('notifications/tools/list_changed', 1), false);
    stream.take(note(ACK, 1, { notifications: { toolsListChanged: true } }), false);
    await stream.acknowledged;
    stream.take(note('notifications/tools/list_changed', 1), false);
    expect([stream.honoured, told, wire.calls[0]?.params]).toEqual([
      { toolsListChanged: true },
      ['notifications/tools/list_changed'],
      { notifications: { toolsListChanged: true } },
    ]);
    stream.stop();
  });

  test('is matched by the id of the request and its type', async () => {
    const { stream } = setUp();
    await settled();
    expect(stream.take(note(ACK, '1'), false)).toBe(false);
    expect(stream.take(note(ACK, 2), false)).toBe(false);
    expect(stream.take(note('notifications/message'), false)).toBe(false);
    expect(stream.take(note(ACK, 1), false)).toBe(true);
    stream.stop();
  });

  test('may come on the stream of the request', async () => {
    const { stream, wire, told } = setUp(undefined, { http: true });
    await settled();
    expect(wire.calls[0]?.headers).toMatchObject({ 'mcp-method': 'subscriptions/listen' });
    wire.calls[0]?.onNotify?.(note(ACK));
    await stream.acknowledged;
    wire.calls[0]?.onNotify?.(note('notifications/tools/list_changed'));
    expect(told).toEqual(['notifications/tools/list_changed']);
    stream.stop();
  });

  test('that does not come in time is an error, and the request is ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { stream, wire } = setUp();
      await settled();
      await vi.advanceTimersByTimeAsync(15_000);
      await expect(stream.acknowledged).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
      expect(wire.calls[0]?.signal?.aborted).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  test('that the server refuses is the server’s error', async () => {
    const { stream, wire } = setUp(() => {
      throw new ProtocolError(-32601, 'Method not found');
    });
    await expect(stream.acknowledged).rejects.toMatchObject({ code: -32601 });
    await settled();
    expect([wire.calls.length, stream.isOver]).toEqual([1, true]);
  });
});

describe('a server with nothing to report', () => {
  test('may end the stream at once', async () => {
    const { stream, wire } = setUp(() => ({}));
    await stream.acknowledged;
    await settled();
    expect([wire.calls.length, stream.honoured, stream.isOver]).toEqual([1, {}, true]);
  });

  test('may acknowledge nothing and end it, and is not asked again', async () => {
    const { stream, wire } = setUp();
    await settled();
    stream.take(note(ACK, 1, { notifications: {} }), false);
    wire.calls[0]?.resolve({});
    await settled();
    expect([wire.calls.length, stream.isOver]).toEqual([1, true]);
  });
});

describe('a stream that breaks', () => {
  test.each(['by an error', 'by its result', 'by a notification'])(
    '%s is opened again, and told as a gap',
    async (how) => {
      const { stream, wire, gaps, told } = setUp();
      await settled();
      stream.take(note(ACK, 1), false);
      if (how === 'by an error') wire.calls[0]?.reject(lost());
      else if (how === 'by its result') wire.calls[0]?.resolve({});
      else stream.take(note('notifications/cancelled', undefined, { requestId: 1 }), false);
      await settled();
      expect([wire.calls.length, gaps]).toEqual([2, []]);
      stream.take(note(ACK, 2, { notifications: { toolsListChanged: true } }), false);
      stream.take(note('notifications/tools/list_changed', 1), false);
      stream.take(note('notifications/tools/list_changed', 2), false);
      expect([gaps, told]).toEqual([[{ toolsListChanged: true }], ['notifications/tools/list_changed']]);
      stream.stop();
    },
  );

  test('is reopened with growing pauses', async () => {
    let stream: ListenStream | undefined;
    const t = setUp(async ({ id }) => {
      if (id > 8) return later;
      await settled();
      stream?.take(note(ACK, id), false);
      throw lost();
    });
    stream = t.stream;
    await vi.waitUntil(() => t.wire.calls.length === 9, { timeout: 20_000 });
    expect(t.pauses.map((ms, n) => ms <= [500, 1000, 2000, 5000, 10_000, 30_000, 30_000, 30_000][n]!)).not.toContain(
      false,
    );
    expect(t.pauses.at(-1)).toBeGreaterThanOrEqual(15_000);
    stream.stop();
  });

  test('is not reopened if the server no longer supports the request', async () => {
    const { stream, wire } = setUp(({ id }) => {
      if (id === 2) throw new ProtocolError(-32601, 'gone');
      return later;
    });
    await settled();
    stream.take(note(ACK, 1), false);
    wire.calls[0]?.reject(lost());
    await settled();
    expect([wire.calls.length, stream.isOver]).toEqual([2, true]);
  });

  test('is not reopened if the connection is closed', async () => {
    const { stream, wire } = setUp();
    await settled();
    stream.take(note(ACK, 1), false);
    wire.closedBy = 'exit code 1';
    wire.calls[0]?.reject(lost());
    await settled();
    expect([wire.calls.length, stream.isOver]).toEqual([1, true]);
  });
});

test('a stopped listen stream reports nothing and does not reopen', async () => {
  const { stream, wire, told } = setUp();
  await settled();
  stream.take(note(ACK, 1), false);
  stream.stop();
  stream.take(note('notifications/tools/list_changed', 1), false);
  await settled();
  expect([told, wire.calls.length, wire.calls[0]?.signal?.aborted, stream.isOver]).toEqual([[], 1, true, true]);
});
