import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../kernel/base/cpu-time.contract.ts';
import { findId, excessOf } from './json-shape.ts';
import { readMessage } from './json-rpc.ts';

describe('excessOf', () => {
  it('agrees with the depth and the number of values of what is parsed', () => {
    const limits = fc.record({ maxDepth: fc.integer({ min: 1, max: 6 }), maxValues: fc.integer({ min: 1, max: 20 }) });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), limits, (value, { maxDepth, maxValues }) => {
        const text = JSON.stringify(value);
        expect(excessOf(text, { maxDepth }) === 'depth').toBe(depthOf(value) > maxDepth);
        if (valuesOf(value) > maxValues && text.length > 20)
          expect(excessOf(text, { maxDepth: 10, maxValues })).toBe(text.length > 2 * maxValues ? 'values' : undefined);
        if (valuesOf(value) <= maxValues) expect(excessOf(text, { maxDepth: 100, maxValues })).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('does not count brackets, commas and escaped quotes in strings', () => {
    const text = JSON.stringify({ a: '[[[[{{{{'.repeat(1000), b: '"[\\"[,'.repeat(1000), c: '\\\\\\' });
    expect(excessOf(text, { maxDepth: 1, maxValues: 4 })).toBeUndefined();
  });

  it('judges 60 MB at once', () => {
    const deep = '['.repeat(60_000_000);
    const wide = `[${'[],'.repeat(20_000_000)}]`;
    const slashes = `["${'\\\\'.repeat(15_000_000)}${'\\"'.repeat(15_000_000)}"]`;
    const spent = cpuMs(() => {
      expect(excessOf(deep, { maxDepth: 512 })).toBe('depth');
      expect(excessOf(wide, { maxDepth: 512, maxValues: 1_000_000 })).toBe('values');
      expect(excessOf(slashes, { maxDepth: 512, maxValues: 1 })).toBeUndefined();
    });
    expect(spent).toBeLessThan(3000);
  });
});

describe('a message of a hostile shape', () => {
  const limits = { maxDepth: 512, maxValues: 1000 };

  it('is refused with its id, before it is parsed', () => {
    const deep = '['.repeat(5_000_000);
    const refused = { kind: 'refused', id: 5, error: { code: 'NESTED_TOO_DEEP' } };
    expect(readMessage(`{"jsonrpc":"2.0","id":5,"method":"x","params":${deep}`, limits)).toMatchObject(refused);
    const answer = { ...refused, isAnswer: true };
    expect(readMessage(`{"jsonrpc":"2.0","id":5,"result":${deep}`, limits)).toMatchObject(answer);
    expect(readMessage(`{"result":${deep},"jsonrpc":"2.0","id":5}`, limits)).toMatchObject(answer);
    expect(readMessage(`{"id":5,"result":[${'1,'.repeat(2000)}1]}`, limits)).toMatchObject({
      id: 5,
      error: { code: 'TOO_MANY_VALUES', details: { limit: 1000 } },
    });
  });

  it('is refused without an id as a batch', () => {
    const batch = `[{"jsonrpc":"2.0","id":5,"method":"x","params":${'['.repeat(1_000_000)}`;
    expect(readMessage(batch, limits)).toMatchObject({ kind: 'refused', id: null });
  });
});

describe('findId', () => {
  it.each<[string, unknown, boolean]>([
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{', 1, true],
    [' { "id" : "a\\"b" , "jsonrpc":"2.0","result":{', 'a"b', false],
    ['{"method":"x","params":{"id":3},"jsonrpc":"2.0","id":-4}', -4, true],
    ['{"result":{"id":3},"id":4}  ', 4, false],
    ['{"result":{"id":3}}', null, false],
    ['{"result":{"id":3,"a":4}', null, false],
    ['{"params":{},"method":"x","id":5,"jsonrpc":"2.0"}', 5, true],
    ['{"id":[1],"result":{}}', null, false],
    ['[{"id":1}]', null, false],
    ['', null, false],
    ['{"id":01,"result":{}}', null, false],
  ])('finds the id of %s', (text, id, isCall) => {
    expect(findId(text)).toEqual({ id, isCall });
  });

  it('takes linear time on anything', () => {
    const spent = cpuMs(() => {
      for (const part of ['"', '\\"', ',"id":', '{"id":"\\', ',"a":"', ' ', '9'])
        for (let n = 0; n < 20; n++) findId(part.repeat(1024), part.repeat(1024));
    });
    expect(spent).toBeLessThan(2000);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children = Object.values(value);
  return 1 + Math.max(0, children.length - 1) + children.reduce((sum, child) => sum + valuesOf(child), 0);
}
