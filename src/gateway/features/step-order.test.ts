import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as entry from '../../_entries/middleware.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { FakeExchange, chainOf, serverOf } from '../../kernel/fake-exchange.contract.ts';
import { STEP_ORDER, findBuiltIn } from './step-order.ts';

const OPTIONS: Record<string, unknown> = {
  prefix: 'p_',
  log: { log: { info() {}, warn() {} } },
  approve: { when: ['other'] },
};

describe('the built-in steps', () => {
  it('stand in this order, each with a reason', () => {
    expect(STEP_ORDER.map(({ name }) => name).join(' ')).toBe(
      'discover log redact screen sizeLimit prefix rename describe filter defaults fixed approve cache retry circuitBreaker timeout',
    );
    for (const { why } of STEP_ORDER) expect(why.length).toBeGreaterThan(20);
  });

  it('are described in docs/middleware.md in that order', () => {
    const page = readFileSync(new URL('../../../docs/middleware.md', import.meta.url), 'utf8');
    const described = [...page.matchAll(/^\| \*\*(\w+)\*\*/gm)].map((match) => match[1]);
    expect(described).toEqual(STEP_ORDER.map(({ name }) => name));
  });

  it('are found by name, are exported by it, and call themselves and their function so', () => {
    for (const { name } of STEP_ORDER) {
      expect((entry as Record<string, unknown>)[name]).toBe(findBuiltIn(name));
      expect(findBuiltIn(name)!(OPTIONS[name] ?? {}).name).toBe(name);
    }
    expect(findBuiltIn('nothing')).toBeUndefined();
    expect(findBuiltIn('constructor')).toBeUndefined();
  });

  it('the built-in steps refuse unknown options', () => {
    for (const { name, create } of STEP_ORDER) {
      expect(() => create({ madeUp: 1 }), name).toThrow(GatewayError);
      expect(() => create([]), name).toThrow(GatewayError);
    }
  });

  it('work together in that order, and change nothing they are not told to', async () => {
    const tools = [{ name: 'a', x: 1 }, { name: 'b' }, { name: 'c' }];
    const call = chainOf(
      STEP_ORDER.map(({ name, create }) => create(OPTIONS[name] ?? {})),
      serverOf({ tools }),
    );
    expect((await call('tools/list')).tools).toEqual([{ name: 'p_a', x: 1 }, { name: 'p_b' }]);
    const params = { name: 'p_c', arguments: { z: [1] }, _meta: { kept: true } };
    expect(await call(new FakeExchange('tools/call', params))).toEqual({
      method: 'tools/call',
      params: { name: 'c', arguments: { z: [1] }, _meta: { kept: true } },
    });
  });
});
