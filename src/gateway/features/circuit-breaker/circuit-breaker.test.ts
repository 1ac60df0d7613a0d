import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import type { CircuitBreakerOptions } from './circuit-breaker.ts';
import { FakeClock, chainOf } from '../../../kernel/fake-exchange.contract.ts';

/** Two servers: tools that begin with a are on the first. Each fails while it is said to. */
function made(options: CircuitBreakerOptions = {}) {
  const clock = new FakeClock();
  const failing = new Map<string, Error>();
  const calls: string[] = [];
  const through = chainOf([circuitBreaker({ clock, failures: 3, resetMs: 1000, ...options })], async (exchange) => {
    const name = String(exchange.params.name);
    exchange.server = name.startsWith('a') ? 'alpha' : 'beta';
    calls.push(name);
    const error = failing.get(exchange.server);
    if (error) throw error;
    return { ok: name };
  });
  const use = (name: string): Promise<JsonObject> => through('tools/call', { name });
  const fail = async (name: string, times: number) => {
    for (let time = 0; time < times; time++) await use(name).catch(() => {});
  };
  return { clock, failing, calls, use, fail };
}

const gone = new GatewayError('TOOL_UNREACHABLE', { reason: 'gone' });

describe('circuitBreaker', () => {
  it('refuses at once after some failures in a row, and says until when', async () => {
    const { failing, calls, use, fail, clock } = made();
    failing.set('alpha', gone);
    await fail('a1', 3);
    await clock.advance(400);
    await expect(use('a1')).rejects.toMatchObject({
      code: 'UPSTREAM_BUSY',
      message: 'alpha is too busy: it failed 3 times in a row; the next try is in 600 ms',
      retryAfterMs: 600,
    });
    expect(calls).toHaveLength(3);
  });

  it('spares a server as a whole, and leaves others alone', async () => {
    const { failing, use, fail } = made();
    await use('a2');
    failing.set('alpha', gone);
    await fail('a1', 3);
    await expect(use('a2')).rejects.toMatchObject({ code: 'UPSTREAM_BUSY' });
    expect(await use('b1')).toEqual({ ok: 'b1' });
  });

  it('a circuit breaker may spare each tool by itself', async () => {
    const { failing, use, fail } = made({ per: 'tool' });
    failing.set('alpha', gone);
    await fail('a1', 3);
    await expect(use('a1')).rejects.toMatchObject({ code: 'UPSTREAM_BUSY', details: { server: 'a1' } });
    await expect(use('a2')).rejects.toBe(gone);
  });

  it('counts failures in a row only', async () => {
    const { failing, use, fail } = made();
    for (let round = 0; round < 3; round++) {
      failing.set('alpha', gone);
      await fail('a1', 2);
      failing.clear();
      expect(await use('a1')).toEqual({ ok: 'a1' });
    }
  });

  it('a circuit breaker does not count what a server answers, nor what the client gives up', async () => {
    for (const error of [
      new ProtocolError(-32603, 'no'),
      new GatewayError('TOOL_NOT_FOUND'),
      new GatewayError('CANCELLED'),
    ]) {
      const { failing, use, fail } = made();
      failing.set('alpha', error);
      await fail('a1', 5);
      await expect(use('a1')).rejects.toBe(error);
    }
  });

  it('lets one through when the time is over, and closes if it succeeds', async () => {
    const { failing, calls, use, fail, clock } = made();
    failing.set('alpha', gone);
    await fail('a1', 3);
    await clock.advance(1000);
    failing.clear();
    const [probe, other] = await Promise.allSettled([use('a1'), use('a1')]);
    expect(probe).toMatchObject({ status: 'fulfilled' });
    expect(other).toMatchObject({ status: 'rejected', reason: { code: 'UPSTREAM_BUSY' } });
    expect(await use('a1')).toEqual({ ok: 'a1' });
    expect(calls).toHaveLength(5);
  });

  it('opens again if it fails', async () => {
    const { failing, use, fail, clock } = made();
    failing.set('alpha', gone);
    await fail('a1', 3);
    await clock.advance(1000);
    await expect(use('a1')).rejects.toBe(gone);
    await expect(use('a1')).rejects.toMatchObject({ code: 'UPSTREAM_BUSY', retryAfterMs: 1000 });
  });

  it('lets another one through when the first has shown nothing', async () => {
    const { failing, use, fail, clock } = made();
    failing.set('alpha', gone);
    await fail('a1', 3);
    await clock.advance(1000);
    failing.set('alpha', new GatewayError('CANCELLED'));
    await fail('a1', 1);
    failing.clear();
    expect(await use('a1')).toEqual({ ok: 'a1' });
  });

  it('an unknown value of "per" is refused', () => {
    expect(() => circuitBreaker({ per: 'user' as never })).toThrow('circuitBreaker.per: must be server or tool');
  });
});
