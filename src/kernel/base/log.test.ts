import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';
type Least = 'debug' | 'info' | 'warn' | 'error' | 'silent';

function recorder(level?: 'debug' | 'warn' | 'silent') {
  const lines: string[] = [];
  const log = createLog({ ...(level && { level }), write: (line) => void lines.push(line) });
  return { log, lines, last: () => JSON.parse(lines.at(-1)!) as Record<string, unknown> };
}

describe('the log', () => {
  it('writes one line of JSON per event, from its level up', () => {
    const { log, lines, last } = recorder();
    log.info({}, 'quiet');
    log.warn({ a: 'x\ny' }, 'loud');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\n]+\n$/);
    expect(last()).toMatchObject({ level: 'warn', event: 'loud', a: 'x\ny' });
    const silent = recorder('silent');
    silent.log.error({}, 'never');
    expect(silent.lines).toEqual([]);
  });

  it('adds a child’s fields to each of its lines', () => {
    const { log, last } = recorder();
    log.child({ a: 1 }).child({ b: 2 }).error({ c: 3 }, 'e');
    expect(last()).toMatchObject({ a: 1, b: 2, c: 3 });
  });

  it.each([
    'authorization',
    'Proxy-Authorization',
    'set-cookie',
    'accessToken',
    'client_secret',
    'password',
    'x-api-key',
    'apiKey',
    'Mcp-Session-Id',
    'sessionId',
    'requestState',
    'privateKey',
  ])('redacts %s at any depth', (name) => {
    const { log, lines } = recorder();
    log.error({ [name]: 'hush', deep: [{ headers: { [name]: ['hush'] } }], other: { [name]: { inner: 'hush' } } }, 'e');
    expect(lines[0]).not.toContain('hush');
  });

  it('the log does not redact numbers', () => {
    const { log, last } = recorder();
    log.error({ maxTokens: 5, tokens: undefined }, 'e');
    expect(last().maxTokens).toBe(5);
  });

  it('writes an error with its cause and stack', () => {
    const { log, last } = recorder();
    log.error({ error: new TypeError('outer', { cause: new Error('inner') }) }, 'e');
    expect(last().error).toMatchObject({ name: 'TypeError', message: 'outer', cause: { message: 'inner' } });
  });

  it('never throws', () => {
    const { log, lines } = recorder();
    const circle: Record<string, unknown> = { twice: [1] };
    circle.self = circle;
    const error = new Error('mine');
    error.cause = error;
    const throwing = {
      toJSON: () => {
        throw new Error('no JSON for you');
      },
    };
    for (const odd of [
      circle,
      error,
      10n,
      throwing,
      Symbol('s'),
      () => {},
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no keys');
          },
        },
      ),
    ]) {
      log.error({ odd }, 'e');
    }
    expect(lines).toHaveLength(7);
    for (const line of lines) JSON.parse(line);
    expect(lines[0]).toContain('[circular]');
  });

  it('writes the same object twice', () => {
    const { log, last } = recorder();
    const shared = { a: 1 };
    log.error({ one: shared, two: [shared, shared] }, 'e');
    expect(last()).toMatchObject({ one: { a: 1 }, two: [{ a: 1 }, { a: 1 }] });
  });
});

describe('a level that is a function', () => {
  const written = (level: () => Least): string[] => {
    const lines: string[] = [];
    const log = createLog({ level, write: (line) => void lines.push((JSON.parse(line) as { level: string }).level) });
    for (const one of ['debug', 'info', 'warn', 'error'] as const) log[one]({}, 'x');
    return lines;
  };

  it('a function decides about every line, and may change its answer', () => {
    expect(written(() => 'silent')).toEqual([]);
    expect(written(() => 'error')).toEqual(['error']);
    expect(written(() => 'info')).toEqual(['info', 'warn', 'error']);
    let asked = 0;
    expect(written(() => (asked++ < 2 ? 'silent' : 'debug'))).toEqual(['warn', 'error']);
  });

  it('a level whose function throws, rejects or answers something else is "warn"', () => {
    const fail = (): never => {
      throw new Error('mine');
    };
    expect(written(fail)).toEqual(['warn', 'error']);
    expect(written((() => Promise.reject(new Error('mine'))) as unknown as () => Least)).toEqual(['warn', 'error']);
    expect(written((() => 'loud') as unknown as () => Least)).toEqual(['warn', 'error']);
  });
});
