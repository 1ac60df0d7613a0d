import type { Handle } from '../../../kernel/target.ts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { FakeClock, FakeExchange, chainOf } from '../../../kernel/fake-exchange.contract.ts';
import { log } from './log.ts';
import type { LogOptions } from './log.ts';

const params = { name: 'search', arguments: { query: 'my illness' } };

async function linesOf(last: Handle, options: LogOptions = {}, exchange = new FakeExchange('tools/call', params)) {
  const lines: JsonObject[] = [];
  const sink = createLog({ level: 'debug', write: (line) => lines.push(JSON.parse(line) as JsonObject) });
  const call = chainOf([log({ log: sink, clock: new FakeClock(), ...options })], last);
  await call(exchange).catch(() => {});
  return lines;
}

describe('log', () => {
  it('the step log writes one line for each request: what, of whom, how long, how it ended, for whom', async () => {
    const clock = new FakeClock();
    const last: Handle = async (exchange) => {
      exchange.server = 'web';
      await clock.advance(42);
      return {};
    };
    const [line, ...others] = await linesOf(last, { clock });
    expect(others).toEqual([]);
    expect(line).toEqual({
      time: expect.any(String),
      level: 'info',
      event: 'exchange',
      exchange: 'exchange-1',
      method: 'tools/call',
      name: 'search',
      server: 'web',
      ms: 42,
      outcome: 'ok',
      client: 'tester 1',
    });
  });

  it('the step log never writes values of arguments, unless asked to', async () => {
    expect(JSON.stringify(await linesOf(() => ({})))).not.toContain('illness');
    expect((await linesOf(() => ({}), { arguments: true }))[0]!.arguments).toEqual(params.arguments);
  });

  it('the line of a request that failed says how', async () => {
    const failing = (error: unknown) =>
      linesOf(() => {
        throw error;
      });
    expect((await failing(new GatewayError('UPSTREAM_CLOSED')))[0]).toMatchObject({
      level: 'warn',
      outcome: 'UPSTREAM_CLOSED',
    });
    expect((await failing(new ProtocolError(-32050, 'x')))[0]).toMatchObject({ outcome: '-32050' });
    expect((await failing(new Error('x')))[0]).toMatchObject({ outcome: 'INTERNAL' });
  });

  it('a tool result that is an error has an outcome of its own, unless results are not to be read', async () => {
    expect((await linesOf(() => ({ isError: true })))[0]).toMatchObject({ level: 'warn', outcome: 'tool error' });
    const [line] = await linesOf(() => ({ isError: true }), { toolErrors: false, level: 'debug' });
    expect(line).toMatchObject({ level: 'debug', outcome: 'ok' });
  });

  it('the line of a request names the resource, the task, or what is completed', async () => {
    const named = async (method: string, given: JsonObject) =>
      (await linesOf(() => ({}), {}, new FakeExchange(method, given)))[0]!.name;
    expect(await named('resources/read', { uri: 'file:///a' })).toBe('file:///a');
    expect(await named('tasks/get', { taskId: 't1' })).toBe('t1');
    expect(await named('completion/complete', { ref: { type: 'ref/prompt', name: 'greet' } })).toBe('greet');
  });

  it('what the gateway lists for its own status and console leaves no line, and what a client lists does', async () => {
    const own = new FakeExchange('tools/list', {});
    expect(await linesOf(() => ({ tools: [] }), {}, own)).toEqual([]);
    const asked = new FakeExchange('tools/list', {});
    Object.assign(asked, { client: { ...asked.client, connection: { transport: 'http' } } });
    expect(await linesOf(() => ({ tools: [] }), {}, asked)).toHaveLength(1);
  });

  it('an unknown level of the step log is refused', () => {
    expect(() => log({ level: 'loud' as never })).toThrow('log.level: must be debug or info');
  });
});
