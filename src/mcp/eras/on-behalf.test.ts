// Calls on behalf of a client, in both server dialects: its questions, its log messages, its name.
import { describe, expect, it } from 'vitest';
import { SPEAKING } from './fake-views.contract.ts';
import type { Ask, LogEntry, Progress } from '../../kernel/exchange.ts';
import type { OutgoingCall } from '../../kernel/server-view.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import { FakeWire, fakeEvents, later, settled } from './fake-wire.contract.ts';
import type { RecordedCall } from './fake-wire.contract.ts';
import { HandshakeServerDialect } from './handshake/handshake-server-dialect.ts';
import { META } from './meta.ts';
import type { ServerDialect } from './speak/server-dialect.ts';
import { StatelessServerDialect } from './stateless/stateless-server-dialect.ts';

const info = { name: 's', version: '1' };
const message = (data: unknown) => ({
  jsonrpc: '2.0' as const,
  method: 'notifications/message',
  params: { level: 'info', data },
});

function speaking(
  dialect: 'handshake' | 'stateless',
  answer: (call: RecordedCall) => unknown,
  revision = '2025-11-25',
) {
  const wire = new FakeWire(answer);
  const events = fakeEvents();
  const capabilities = {};
  const identity = { info: { name: 'me', version: '1' }, capabilities: {} };
  const serverDialect: ServerDialect =
    dialect === 'handshake'
      ? new HandshakeServerDialect(wire, { ...SPEAKING[dialect], revision, info, capabilities }, events)
      : new StatelessServerDialect(
          wire,
          { ...SPEAKING[dialect], revision: '2026-07-28', info, capabilities },
          identity,
          events,
        );
  return { wire, events, serverDialect };
}

describe.each(['handshake', 'stateless'] as const)('a %s server', (dialect) => {
  const start = (...calls: Partial<OutgoingCall>[]) => {
    const set = speaking(dialect, () => later);
    for (const call of calls) void set.serverDialect.call({ method: 'tools/call', params: {}, ...call });
    return set;
  };

  it('sends its log messages to the call on whose stream they come', async () => {
    const [one, other]: [LogEntry[], LogEntry[]] = [[], []];
    const { wire, events } = start({ onLog: (entry) => one.push(entry) }, { onLog: (entry) => other.push(entry) });
    await settled();
    wire.calls[0]!.onNotify(message('for one'));
    expect([one, other, events.changes]).toEqual([[{ level: 'info', data: 'for one' }], [], []]);
  });

  it('sends its log messages to the only open call if the transport cannot tell', async () => {
    const heard: LogEntry[] = [];
    const { serverDialect, events } = start({ onLog: (entry) => heard.push(entry) });
    await settled();
    serverDialect.onNotification(message('for the call'));
    expect(heard).toEqual([{ level: 'info', data: 'for the call' }]);
    expect(events.changes).toEqual([]);
  });

  it('sends its log messages to no call if there are several, none, or one without a listener', async () => {
    const heard: LogEntry[] = [];
    const onLog = (entry: LogEntry): void => void heard.push(entry);
    for (const calls of [[{ onLog }, { onLog }], [], [{}]]) {
      const { serverDialect, events } = start(...calls);
      await settled();
      serverDialect.onNotification(message('?'));
      expect(events.changes).toMatchObject([{ kind: 'log', entry: { data: '?' } }]);
    }
    expect(heard).toEqual([]);
  });
});

describe('a handshake server', () => {
  const request = (method: string, params = {}) => ({ jsonrpc: '2.0' as const, id: 7, method, params });

  it('gets its answer from the client whose call carried the question', async () => {
    const { serverDialect, wire, events } = speaking('handshake', () => later);
    const asked: Ask[] = [];
    const ask = async (question: Ask) => {
      asked.push(question);
      return { by: 'the call' };
    };
    serverDialect.onRequest(request('elicitation/create', { message: 'm' }), { ask });
    serverDialect.onRequest(request('roots/list'));
    await settled();
    expect(wire.responded).toMatchObject([{ result: { by: 'the call' } }, { result: {} }]);
    expect([asked.length, events.asks.length]).toEqual([1, 1]);
  });

  it('can name the task that asks', async () => {
    const { serverDialect, events } = speaking('handshake', () => later);
    const _meta = { [META.relatedTask]: { taskId: 't' }, [META.key]: 'k', other: 1 };
    serverDialect.onRequest(request('elicitation/create', { message: 'm', _meta }));
    await settled();
    expect(events.asks).toEqual([
      {
        method: 'elicitation/create',
        params: { message: 'm', _meta: { [META.relatedTask]: { taskId: 't' }, other: 1 } },
        key: 'k',
      },
    ]);
  });

  it('of an older revision gets no completion context and may lack completion', async () => {
    const params = { ref: {}, argument: {}, context: { arguments: {} } };
    const complete = { method: 'completion/complete', params };
    const march = speaking('handshake', () => ({ completion: { values: [] } }), '2025-03-26');
    await march.serverDialect.call(complete);
    expect(march.wire.calls[0]?.params).toEqual({ ref: {}, argument: {} });
    const june = speaking('handshake', () => ({ completion: { values: [] } }), '2025-06-18');
    await june.serverDialect.call(complete);
    expect(june.wire.calls[0]?.params).toBe(params);
    const unable = () => {
      throw new ProtocolError(-32601, 'Method not found');
    };
    expect(await speaking('handshake', unable, '2024-11-05').serverDialect.call(complete)).toEqual({
      completion: { values: [] },
    });
    await expect(speaking('handshake', unable).serverDialect.call(complete)).rejects.toMatchObject({ code: -32601 });
  });

  it('may omit content beside structured data', async () => {
    const { serverDialect } = speaking('handshake', () => ({ structuredContent: { a: 1 } }));
    expect(await serverDialect.call({ method: 'tools/call', params: {} })).toEqual({ structuredContent: { a: 1 } });
  });
});

describe('a stateless server', () => {
  it('learns with each call which client it is for', async () => {
    const { serverDialect, wire } = speaking('stateless', () => ({}));
    const them = { info: { name: 'them', version: '2' }, capabilities: { sampling: {} }, logLevel: 'debug' as const };
    await serverDialect.call({ method: 'tools/list', ...them });
    await serverDialect.call({ method: 'tools/list' });
    const metas = wire.calls.map(({ params }) => params?._meta);
    expect(metas).toEqual([
      expect.objectContaining({
        [META.clientInfo]: them.info,
        [META.clientCapabilities]: them.capabilities,
        [META.logLevel]: 'debug',
      }),
      expect.objectContaining({ [META.clientInfo]: { name: 'me', version: '1' }, [META.clientCapabilities]: {} }),
    ]);
    expect(metas[1]).not.toHaveProperty([META.logLevel]);
  });

  it('reports rising progress across rounds of questions', async () => {
    const heard: number[] = [];
    const { serverDialect } = speaking('stateless', ({ id, onProgress }) => {
      for (const progress of id === 1 ? [1, 3, 2] : [1, 3, 4]) onProgress?.({ progress });
      return id === 1 ? { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } } : {};
    });
    const onProgress = ({ progress }: Progress): void => void heard.push(progress);
    await serverDialect.call({ method: 'tools/call', params: {}, onProgress });
    expect(heard).toEqual([1, 3, 2, 4]);
  });
});
