import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { META, splitMeta } from './meta.ts';

it('splitMeta removes the protocol’s keys and keeps all others', () => {
  const _meta = {
    [META.clientInfo]: {},
    [META.relatedTask]: { taskId: 't' },
    progressToken: 3,
    tracestate: 'a=b',
    x: 1,
  };
  const { params, progressToken, trace } = splitMeta({ name: 'n', _meta });
  expect(params).toEqual({ name: 'n', _meta: { [META.relatedTask]: { taskId: 't' }, x: 1 } });
  expect(progressToken).toBe(3);
  expect(trace).toEqual({ tracestate: 'a=b' });
});

it('splitMeta leaves no empty _meta and no params where there were none', () => {
  expect(splitMeta({ name: 'n', _meta: { progressToken: 'p' } }).params._meta).toBeUndefined();
  expect(splitMeta(undefined)).toEqual({ params: {}, progressToken: undefined, trace: undefined });
});

it('tokens and trace of the wrong type are ignored', () => {
  for (const wrong of [null, {}, [], true]) {
    const { progressToken, trace } = splitMeta({ _meta: { progressToken: wrong, traceparent: wrong } });
    expect(progressToken).toBeUndefined();
    expect(Object.keys(trace ?? {})).toEqual([]);
  }
});

it('a _meta key called __proto__ is dropped', () => {
  const params = JSON.parse('{"_meta":{"__proto__":{"polluted":true},"x":1}}') as JsonObject;
  const meta = splitMeta(params).params._meta as JsonObject;
  expect(meta.polluted).toBeUndefined();
  expect(Object.getPrototypeOf(meta)).toBe(Object.prototype);
});

it('splitMeta changes nothing but _meta', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (given, _meta) => {
      const { _meta: own, ...rest } = given;
      const { _meta: kept, ...others } = splitMeta(structuredClone({ ...rest, _meta })).params;
      expect(others).toEqual(rest);
    }),
  );
});
