import type { Handle } from '../../../kernel/target.ts';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../kernel/base/error-table.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { FakeClock, FakeExchange, chainOf, serverOf, settled } from '../../../kernel/fake-exchange.contract.ts';
import { retry } from './retry.ts';
import type { RetryOptions } from './retry.ts';

const tools = [
  { name: 'read', annotations: { readOnlyHint: true } },
  { name: 'put', annotations: { idempotentHint: true } },
  { name: 'pay', annotations: { destructiveHint: true } },
  { name: 'silent' },
];

/** Fails so often, then answers; lists work. */
function failing(times: number, error: Error = new GatewayError('UPSTREAM_CLOSED', { server: 's', reason: 'gone' })) {
  const server = serverOf({ tools });
  const calls: string[] = [];
  const last: Handle = (exchange) => {
    if (exchange.method === 'tools/list' && exchange.id.startsWith('quiet')) return server(exchange);
    calls.push(exchange.method);
    if (calls.length <= times) throw error;
    return { attempts: calls.length };
  };
  return Object.assign(last, { calls });
}

async function attempted(last: Handle & { calls: string[] }, exchange: FakeExchange, options: RetryOptions = {}) {
  const clock = new FakeClock();
  const answer = chainOf([retry({ clock, random: () => 1, ...options })], last)(exchange).catch(() => {});
  for (let pauses = 0; pauses < 10; pauses++) {
    await settled();
    await clock.advance(20_000);
  }
  await answer;
  return last.calls.length;
}

describe('retry', () => {
  it.each(['tools/list', 'resources/list', 'resources/read', 'prompts/get', 'completion/complete'])(
    'tries %s again',
    async (method) => {
      expect(await attempted(failing(2), new FakeExchange(method))).toBe(3);
      expect(await attempted(failing(9), new FakeExchange(method))).toBe(3);
      expect(await attempted(failing(9), new FakeExchange(method), { attempts: 5 })).toBe(5);
    },
  );

  it.each([
    ['read', 3],
    ['put', 3],
    ['pay', 1],
    ['silent', 1],
    ['unknown', 1],
  ])('calls the tool %s %i times', async (name, times) => {
    expect(await attempted(failing(9), new FakeExchange('tools/call', { name }))).toBe(times);
  });

  it('retry does not know a tool whose server cannot list it', async () => {
    const last = failing(9);
    const down: Handle = (exchange) => {
      if (exchange.method === 'tools/list') throw new GatewayError('UPSTREAM_CLOSED', {});
      return last(exchange);
    };
    const exchange = new FakeExchange('tools/call', { name: 'read' });
    expect(await attempted(Object.assign(down, { calls: last.calls }), exchange)).toBe(1);
  });

  it('remembers the lists that pass', async () => {
    const clock = new FakeClock();
    const server = serverOf({ tools });
    let calls = 0;
    let listed = 0;
    const call = chainOf([retry({ clock, random: () => 0 })], (exchange) => {
      if (exchange.method === 'tools/list') return (listed++, server(exchange));
      if (++calls === 1) throw new GatewayError('TOOL_UNREACHABLE', {});
      return {};
    });
    await call('tools/list');
    const answer = call('tools/call', { name: 'put' });
    await settled();
    await clock.advance(0);
    await answer;
    expect([calls, listed]).toEqual([2, 1]);
  });

  it.each<ErrorCode>([
    'TOOL_NOT_FOUND',
    'CANCELLED',
    'UPSTREAM_INVALID',
    'UPSTREAM_UNAUTHORIZED',
    'NOT_SUPPORTED',
    'INTERNAL',
  ])('takes %s for an answer', async (code) => {
    expect(await attempted(failing(9, new GatewayError(code)), new FakeExchange('resources/read'))).toBe(1);
  });

  it('takes the word of a server for an answer', async () => {
    expect(await attempted(failing(9, new ProtocolError(-32603, 'no')), new FakeExchange('resources/read'))).toBe(1);
  });

  it('waits longer each time, at random, and as long as a busy server asks', async () => {
    const waits: number[] = [];
    const clock = new FakeClock();
    const after = clock.after.bind(clock);
    clock.after = (ms, callback) => (waits.push(ms), after(0, callback));
    const error = new GatewayError('UPSTREAM_BUSY', { retryAfterMs: 700 });
    const randoms = [1, 0.5, 1];
    const step = retry({ clock, random: () => randoms.shift()!, attempts: 4, delayMs: 500, maxDelayMs: 1200 });
    const answer = chainOf([step], failing(3, error))('resources/read');
    for (let pauses = 0; pauses < 4; pauses++) {
      await settled();
      await clock.advance(0);
    }
    await answer;
    expect(waits).toEqual([700, 700, 1200]);
  });

  it('retry does not try again when the server wants a longer pause', async () => {
    const busy = new GatewayError('UPSTREAM_BUSY', { retryAfterMs: 60_000 });
    expect(await attempted(failing(9, busy), new FakeExchange('resources/read'))).toBe(1);
  });

  it('stops when the client gives up', async () => {
    const exchange = new FakeExchange('resources/read');
    const last = failing(9);
    const clock = new FakeClock();
    const answer = chainOf([retry({ clock })], last)(exchange);
    const failed = expect(answer).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    await settled();
    exchange.controller.abort();
    await failed;
    expect([last.calls.length, clock.timers]).toEqual([1, 0]);
  });

  it('retry does not ask the user the same twice', async () => {
    const last = failing(9);
    const asking: Handle = async (exchange) => {
      if (exchange.method === 'tools/call') await exchange.ask({ method: 'elicitation/create' });
      return last(exchange);
    };
    const exchange = new FakeExchange('tools/call', { name: 'read' });
    expect(await attempted(Object.assign(asking, { calls: last.calls }), exchange)).toBe(1);
  });

  it('refuses options that make no sense', () => {
    expect(() => retry({ attempts: -1 })).toThrow('retry.attempts: must be a number of at least 0');
    expect(() => retry({ times: 3 } as never)).toThrow('retry.times: is not an option');
  });
});
