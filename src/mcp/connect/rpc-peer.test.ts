import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Message, RequestMessage } from '../../kernel/message.ts';
import type { ServerDialect } from '../eras/speak/server-dialect.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import { FakeLink, RecordingLog, Refuse, connectFakeLink as setUp } from './fake-link.contract.ts';
import { HttpRefusal } from './http/http-refusal.ts';
import { RpcPeer } from './rpc-peer.ts';

/** A speaker that writes down what it hears. */
function listening(): { speaker: ServerDialect; heard: string[] } {
  const heard: string[] = [];
  const hear = ({ method }: { method: string }) => void heard.push(method);
  return { heard, speaker: { onRequest: hear, onNotification: hear } as unknown as ServerDialect };
}

const tick = () => new Promise(setImmediate);
const note = (method: string, params?: object) => ({ jsonrpc: '2.0', method, ...(params && { params }) });

describe('a call', () => {
  test('each call has its own id and gets the raw result', async () => {
    const { wire, link } = await setUp(({ params }) => params);
    await expect(wire.call({ method: 'a', params: { n: 1 } })).resolves.toEqual({ n: 1 });
    void wire.call({ method: 'b' });
    expect(link.requests.map(({ id }) => id)).toEqual([1, 2]);
    expect(link.requests[1]).toEqual({ jsonrpc: '2.0', id: 2, method: 'b' });
  });

  test('rejects with the error of the server', async () => {
    const { wire } = await setUp(() => new Refuse(-32602, 'bad', { parameter: 'x' }));
    await expect(wire.call({ method: 'a' })).rejects.toMatchObject({ code: -32602, data: { parameter: 'x' } });
  });

  test('a call whose signal is already aborted sends nothing', async () => {
    const { wire, link } = await setUp();
    await expect(wire.call({ method: 'a', signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(link.sent).toEqual([]);
  });

  test('a call carries its progress token', async () => {
    const { wire, link } = await setUp();
    const heard: unknown[] = [];
    const call = wire.call(
      { method: 'a', onProgress: (progress) => heard.push(progress) },
      { toParams: (progressToken) => ({ _meta: { progressToken } }) },
    );
    expect(link.requests[0]?.params).toEqual({ _meta: { progressToken: 1 } });
    link.say(note('notifications/progress', { progressToken: 1, progress: 1, total: 3, message: 'one' }));
    link.say(note('notifications/progress', { progressToken: '1', progress: 2 }));
    link.say(note('notifications/progress', { progressToken: 1, progress: 'much' }));
    link.say({ jsonrpc: '2.0', id: 1, result: {} });
    await call;
    expect(heard).toEqual([{ progress: 1, total: 3, message: 'one' }]);
  });

  test('progress in the words of a dialect reaches the call that the dialect finds in it', async () => {
    const { wire, link } = await setUp();
    const heard: unknown[] = [];
    const { speaker, heard: others } = listening();
    speaker.readProgress = ({ method, params = {} }) =>
      method === 'far' ? { token: params.of, progress: { progress: Number(params.km) } } : undefined;
    wire.adopt(speaker);
    const call = wire.call({ method: 'a', onProgress: (progress) => heard.push(progress) });
    link.say(note('far', { of: 1, km: 50 }));
    link.say(note('far', { of: 2, km: 60 }));
    link.say(note('near'));
    link.say({ jsonrpc: '2.0', id: 1, result: {} });
    await call;
    expect(heard).toEqual([{ progress: 50 }]);
    expect(others).toEqual(['near']);
  });

  test('a finished call leaves no listener on a longer-lived signal', async () => {
    const { wire } = await setUp(({ id }) => (Number(id) % 2 ? {} : new Refuse(-1)), 'streamable-http');
    const { signal } = new AbortController();
    for (let n = 0; n < 1000; n++) await wire.call({ method: 'a', signal }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('a call that could not be sent fails, and no other', async () => {
    const { wire } = await setUp(({ method }) => {
      if (method === 'bad') throw new Error('pipe broke');
      return {};
    });
    await expect(wire.call({ method: 'bad' })).rejects.toThrow('pipe broke');
    await expect(wire.call({ method: 'good' })).resolves.toEqual({});
  });
});

describe('calling off', () => {
  test('on a shared channel a cancellation is sent as a notification', async () => {
    const { wire, link } = await setUp();
    const controller = new AbortController();
    const call = wire.call({ method: 'a', signal: controller.signal }, { cancelByStream: true });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(link.notifications).toMatchObject([{ method: 'notifications/cancelled', params: { requestId: 1 } }]);
    link.say({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('ending the stream is enough where the era defines it as cancellation', async () => {
    const { wire, link } = await setUp(undefined, 'streamable-http');
    const controller = new AbortController();
    const call = wire.call({ method: 'a', signal: controller.signal }, { cancelByStream: true });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    expect([link.notifications, link.sent[0]?.options.signal?.aborted]).toEqual([[], true]);
  });

  test('in other eras a cancellation ends the stream and is also sent as a notification', async () => {
    const { wire, link } = await setUp(undefined, 'streamable-http');
    const controller = new AbortController();
    const call = wire.call({ method: 'a', signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    expect([link.notifications.length, link.sent[0]?.options.signal?.aborted]).toEqual([1, true]);
  });

  test('the dialect decides how a cancellation is sent, or that it is not', async () => {
    const { wire, link, clock } = await setUp();
    const draft = wire.call(
      { method: 'a' },
      { cancelNotice: (id) => ({ jsonrpc: '2.0', method: 'cancel', params: { id } }) },
    );
    const silent = wire.call({ method: 'b' }, { cancelNotice: () => undefined });
    const initialize = wire.call({ method: 'initialize' });
    clock.advance(100);
    await Promise.allSettled([draft, silent, initialize]);
    expect(link.notifications).toEqual([{ jsonrpc: '2.0', method: 'cancel', params: { id: 1 } }]);
  });

  test('a timeout cancels the call, and its error quotes the last stderr output', async () => {
    const { wire, link, clock } = await setUp();
    link.words = 'waiting for a login';
    const call = wire.call({ method: 'a' });
    clock.advance(100);
    await expect(call).rejects.toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      message: 'fake did not answer a within 100 ms; it last wrote to stderr: waiting for a login',
    });
    expect(link.methods).toEqual(['a', 'notifications/cancelled']);
  });
});

describe('what the server says by itself', () => {
  test('messages of the server go to the dialect; earlier ones are kept for it, in order', async () => {
    const { wire, link } = await setUp();
    link.say(note('notifications/message'));
    link.say({ jsonrpc: '2.0', id: 5, method: 'roots/list' });
    const { speaker, heard } = listening();
    wire.adopt(speaker);
    link.say(note('notifications/tools/list_changed'));
    expect(heard).toEqual(['notifications/message', 'roots/list', 'notifications/tools/list_changed']);
  });

  test('messages before the dialect is known are bounded', async () => {
    const { wire, link, log } = await setUp();
    for (let n = 0; n < 200; n++) link.say(note('notifications/message'));
    const { speaker, heard } = listening();
    wire.adopt(speaker);
    expect([heard.length, log.events.length]).toEqual([100, 100]);
  });

  test('a ping is answered before the dialect is known', async () => {
    const { link } = await setUp();
    link.say({ jsonrpc: '2.0', id: 'p', method: 'ping' });
    await tick();
    expect(link.sent[0]?.message as Message).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
  });

  test('a message on the stream of a call goes to that call while it is open', async () => {
    const { wire, link } = await setUp(undefined, 'streamable-http');
    const { speaker, heard } = listening();
    wire.adopt(speaker);
    const own: string[] = [];
    const call = wire.call({ method: 'a', onNotify: ({ method }) => own.push(method) });
    link.say(note('notifications/message'), 1);
    link.say({ jsonrpc: '2.0', id: 1, result: {} }, 1);
    link.say(note('notifications/late'), 1);
    await call;
    expect([own, heard]).toEqual([['notifications/message'], ['notifications/late']]);
  });

  test('a callback that throws does not affect other calls', async () => {
    const { wire, link, log } = await setUp();
    const call = wire.call({
      method: 'a',
      onProgress: () => {
        throw new Error('in a callback');
      },
    });
    link.say(note('notifications/progress', { progressToken: 1, progress: 1 }));
    link.say({ jsonrpc: '2.0', id: 1, result: {} });
    await expect(call).resolves.toEqual({});
    expect(log.events).toEqual(['callback.failed']);
  });
});

describe('the end', () => {
  test('the end of a connection rejects pending and later calls', async () => {
    const { wire, link, closes } = await setUp();
    const calls = [wire.call({ method: 'a' }), wire.call({ method: 'b' }, { endless: true })];
    link.die('exit code 3; stderr: boom');
    for (const call of calls) await expect(call).rejects.toThrow(/exit code 3; stderr: boom/);
    await expect(wire.call({ method: 'c' })).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    expect(closes).toEqual(['exit code 3; stderr: boom']);
  });

  test('HTTP refusals become Parley errors, also at the start', async () => {
    const refused = await setUp(() => {
      throw new HttpRefusal(401, '');
    }, 'streamable-http');
    await expect(refused.wire.call({ method: 'a' })).rejects.toMatchObject({ code: 'UPSTREAM_UNAUTHORIZED' });
    const link = new FakeLink((_: RequestMessage) => undefined, 'websocket');
    link.startError = new HttpRefusal(404, '');
    const options = { clock: new FakeClock(), log: new RecordingLog(), timeoutMs: 1, maxTimeoutMs: 1, onClose() {} };
    await expect(new RpcPeer(link, options).start()).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
  });
});
