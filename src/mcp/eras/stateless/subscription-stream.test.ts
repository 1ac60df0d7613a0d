import { describe, expect, test, vi } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';
import type { RecordedCall } from '../fake-wire.contract.ts';
import { FakeWire, fakeEvents, later, settled } from '../fake-wire.contract.ts';
import { META } from '../meta.ts';
import { StatelessServerDialect } from './stateless-server-dialect.ts';

const ALL = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};

interface Given {
  capabilities?: JsonObject;
  http?: boolean;
  /** The part of a filter that the server accepts; a thrown error refuses it. */
  honour?: (filter: JsonObject) => JsonObject;
  /** Receives the function that acknowledges a stream; by default it is called at once. */
  onAck?: (send: () => void) => void;
}

function setUp({ capabilities = ALL, http = false, honour = (filter) => filter, onAck }: Given = {}) {
  const events = fakeEvents();
  const order: string[] = [];
  const acknowledge = (call: RecordedCall) => {
    const filter = honour(call.params?.notifications as JsonObject);
    order.push(`open ${call.id}`);
    call.signal?.addEventListener('abort', () => order.push(`close ${call.id}`));
    const send = (): void => say(call, 'notifications/subscriptions/acknowledged', { notifications: filter });
    if (onAck) onAck(send);
    else send();
    return later;
  };
  const wire = new FakeWire(acknowledge, { http });
  const identity = { info: { name: 'me', version: '1' }, capabilities: {} };
  const server = {
    ...SPEAKING.stateless,
    revision: '2026-07-28',
    info: { name: 's', version: '1' },
    capabilities,
  } as const;
  const dialect = new StatelessServerDialect(wire, server, identity, events);
  const say = (call: Pick<RecordedCall, 'id' | 'onNotify'>, method: string, params: JsonObject = {}) => {
    const notification = {
      jsonrpc: '2.0' as const,
      method,
      params: { ...params, _meta: { [META.subscriptionId]: call.id } },
    };
    if (http) call.onNotify?.(notification);
    else dialect.onNotification(notification);
  };
  const filters = () => wire.calls.map(({ params }) => params?.notifications);
  return { wire, events, dialect, order, say, filters };
}

/** Subscribed to `a`; the server acknowledges further streams when the test says so. */
async function subscribeToOne(http: boolean) {
  const acks: (() => void)[] = [];
  const all = setUp({ http, onAck: (send) => void acks.push(send) });
  const first = all.dialect.subscribe('a');
  await settled();
  acks[0]!();
  await first;
  return { ...all, acks };
}

describe.each([{ http: false }, { http: true }])('watching, http: $http', ({ http }) => {
  test('opens one stream for all lists that can change', async () => {
    const { dialect, filters, wire } = setUp({ http });
    dialect.watch();
    dialect.watch();
    await settled();
    expect(filters()).toEqual([{ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }]);
    expect(wire.calls[0]).toMatchObject({ endless: true, cancelByStream: true });
    await dialect.leave();
    expect(wire.calls[0]?.signal?.aborted).toBe(true);
  });

  test('a wider filter is acknowledged before the old stream is closed', async () => {
    const { dialect, order, filters } = setUp({ http });
    await dialect.subscribe('a');
    await dialect.subscribe('b');
    await dialect.unsubscribe('a');
    expect(filters()).toEqual([
      { resourceSubscriptions: ['a'] },
      { resourceSubscriptions: ['a', 'b'] },
      { resourceSubscriptions: ['b'] },
    ]);
    expect(order).toEqual(['open 1', 'open 2', 'close 1', 'open 3', 'close 2']);
    await dialect.unsubscribe('b');
    expect(order.at(-1)).toBe('close 3');
  });

  test('subscriptions made at once are all included', async () => {
    const { dialect, wire, filters } = setUp({ http });
    dialect.watch();
    await Promise.all(['a', 'b', 'c'].map((uri) => dialect.subscribe(uri)));
    expect(filters().at(-1)).toMatchObject({ toolsListChanged: true, resourceSubscriptions: ['a', 'b', 'c'] });
    expect(wire.calls.filter(({ signal }) => !signal?.aborted)).toHaveLength(1);
  });

  test('reports changes of the open stream only', async () => {
    const { dialect, events, say, wire } = setUp({ http });
    await dialect.subscribe('a');
    await dialect.subscribe('b');
    say(wire.calls[0]!, 'notifications/resources/updated', { uri: 'a' });
    say(wire.calls[1]!, 'notifications/resources/updated', { uri: 'b' });
    expect(events.changes).toEqual([{ kind: 'resource', uri: 'b' }]);
  });

  test('reports a change once if it comes on both streams, in any order', async () => {
    const { dialect, events, say, wire, acks } = await subscribeToOne(http);
    const second = dialect.subscribe('b');
    await settled();
    const change = (call: number, uri: string) =>
      say(wire.calls[call]!, 'notifications/resources/updated', { uri, more: 1 });
    change(0, 'before');
    change(0, 'old first');
    expect(events.changes).toEqual([]);
    acks[1]!();
    change(1, 'old first');
    change(1, 'new first');
    change(0, 'new first');
    change(0, 'late');
    await second;
    change(1, 'after');
    const uris = events.changes.map((one) => (one as { uri: string }).uri);
    expect(uris).toEqual(['before', 'old first', 'new first', 'late', 'after']);
  });

  test('reports changes of the old stream even if the new one never opens', async () => {
    const { dialect, events, say, wire } = await subscribeToOne(http);
    void dialect.subscribe('b').catch(() => {});
    await settled();
    say(wire.calls[0]!, 'notifications/resources/updated', { uri: 'a' });
    await vi.waitFor(() => expect(events.changes).toEqual([{ kind: 'resource', uri: 'a' }]), 20_000);
    await dialect.leave();
  });

  test('keeps the other subscriptions if the server refuses one', async () => {
    const { dialect, wire, order } = setUp({
      http,
      honour(filter) {
        if ((filter.resourceSubscriptions as string[]).includes('bad'))
          throw new ProtocolError(-32602, 'no such resource');
        return filter;
      },
    });
    await dialect.subscribe('a');
    await expect(dialect.subscribe('bad')).rejects.toMatchObject({ code: -32602 });
    await dialect.subscribe('b');
    expect(order).toEqual(['open 1', 'open 3', 'close 1']);
    expect(wire.calls.at(-1)?.params?.notifications).toEqual({ resourceSubscriptions: ['a', 'b'] });
  });
});

test('a server that accepts no subscription makes subscribing fail', async () => {
  const { dialect } = setUp({ honour: ({ resourceSubscriptions: _, ...rest }) => rest });
  await expect(dialect.subscribe('a')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
});

test('a server whose lists never change gets no listen request', async () => {
  const { dialect, wire } = setUp({ capabilities: { tools: {} } });
  dialect.watch();
  await settled();
  expect(wire.calls).toEqual([]);
});

test('a server that refuses to report changes does no harm', async () => {
  const { dialect, events } = setUp({
    honour() {
      throw new ProtocolError(-32601, 'Method not found');
    },
  });
  dialect.watch();
  await settled();
  expect(events.changes).toEqual([]);
});

test('log messages outside of any stream are reported', () => {
  const { dialect, events } = setUp();
  dialect.onNotification({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } });
  expect(events.changes).toEqual([{ kind: 'log', entry: { level: 'info', data: 1 } }]);
});
