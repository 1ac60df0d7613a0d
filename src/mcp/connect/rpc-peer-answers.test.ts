import { expect, test, describe } from 'vitest';
import { connectFakeLink as setUp } from './fake-link.contract.ts';
import { toLostAnswer } from './links/link.ts';

describe('answers that match no call', () => {
  test('a second answer and an unexpected one are dropped and logged', async () => {
    const { wire, link, log } = await setUp(() => ({}));
    await wire.call({ method: 'a' });
    link.say({ jsonrpc: '2.0', id: 1, result: { again: true } });
    link.say({ jsonrpc: '2.0', id: 99, result: {} });
    link.say({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    expect(log.events).toEqual(['answer.unexpected', 'answer.unexpected', 'answer.unexpected']);
  });

  test('one that comes after its call was cancelled is reported to the listener', async () => {
    const { wire, link, clock, log } = await setUp();
    const late: unknown[] = [];
    const controller = new AbortController();
    const calls = [
      wire.call({ method: 'a', signal: controller.signal }, { onLate: (result) => late.push(result) }),
      wire.call({ method: 'b' }, { onLate: (result) => late.push(result) }),
    ];
    controller.abort();
    clock.advance(100);
    await Promise.allSettled(calls);
    link.say({ jsonrpc: '2.0', id: 1, result: { n: 1 } });
    link.say({ jsonrpc: '2.0', id: 1, result: { n: 1 } });
    link.say({ jsonrpc: '2.0', id: 2, error: { code: -1, message: 'cancelled' } });
    expect([late, log.events]).toEqual([[{ n: 1 }], ['answer.unexpected']]);
  });

  test('an answer with an id of the wrong type fails its call at once', async () => {
    const { wire, link } = await setUp();
    const call = wire.call({ method: 'a' });
    link.say({ jsonrpc: '2.0', id: '1', result: {} });
    await expect(call).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID',
      message: expect.stringContaining('"1" and not 1'),
    });
  });

  test('an answer that was lost on its stream fails its call', async () => {
    const { wire, link } = await setUp(undefined, 'streamable-http');
    const call = wire.call({ method: 'a' });
    link.say(toLostAnswer(1, 'the stream ended'), 1);
    await expect(call).rejects.toMatchObject({
      code: 'UPSTREAM_CLOSED',
      message: expect.stringContaining('the stream ended'),
    });
  });

  test('an error without an id on the stream of a request is for that request', async () => {
    const { wire, link } = await setUp(undefined, 'streamable-http');
    const call = wire.call({ method: 'a' });
    link.say({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no' } }, 1);
    await expect(call).rejects.toMatchObject({ code: -32600 });
  });

  test('one that is too large fails the only call there is, and the next works', async () => {
    const { wire, link } = await setUp(({ method }) => (method === 'small' ? {} : undefined));
    const call = wire.call({ method: 'huge' });
    link.garbage('message larger than 10 bytes (limits.maxResultBytes)', 'oversize');
    await expect(call).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID',
      message: expect.stringContaining('limits.maxResultBytes'),
    });
    await expect(wire.call({ method: 'small' })).resolves.toEqual({});
  });

  test('one that is too large, among several calls, is named by the time-out', async () => {
    const { wire, link, clock } = await setUp();
    const calls = [wire.call({ method: 'a' }), wire.call({ method: 'b' })];
    link.garbage('message larger than 10 bytes (limits.maxResultBytes)', 'oversize');
    clock.advance(100);
    for (const call of calls)
      await expect(call).rejects.toThrow(/it sent a message larger than 10 bytes .* was skipped/);
  });

  test('one that is too large and names its call fails that call, among others', async () => {
    const { wire, link } = await setUp();
    const [a, b] = [wire.call({ method: 'a' }), wire.call({ method: 'b' })];
    link.garbage('message nested deeper than 9 levels (limits.maxDepth)', 'oversize', 2);
    await expect(b).rejects.toMatchObject({ code: 'UPSTREAM_INVALID', message: expect.stringContaining('maxDepth') });
    link.say({ jsonrpc: '2.0', id: 1, result: { a: true } });
    await expect(a).resolves.toEqual({ a: true });
  });

  test('garbage is only logged', async () => {
    const { wire, link, log } = await setUp();
    const call = wire.call({ method: 'a' });
    link.garbage('Parse error');
    link.say({ jsonrpc: '2.0', id: 1, result: {} });
    await call;
    expect(log.events).toEqual(['upstream.garbage']);
  });

  test('endless garbage does not fill the log', async () => {
    const { link, clock, log } = await setUp();
    for (let n = 0; n < 10_000; n++) link.garbage('Parse error');
    expect(log.events).toHaveLength(30);
    clock.advance(2000);
    for (let n = 0; n < 10_000; n++) link.garbage('Parse error');
    expect(log.events).toHaveLength(31);
  });
});
