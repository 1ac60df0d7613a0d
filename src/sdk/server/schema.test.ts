import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toCheckedSchema } from './schema.ts';
import type { Schema } from './types.ts';

const input = (schema: Schema) => toCheckedSchema(schema, { side: 'input', option: 'input of tool t' });

describe('a plain JSON Schema', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'object', properties: { 'c/d': { type: 'number' } } } },
    required: ['a', 'constructor'],
    additionalProperties: false,
  };

  it('a plain JSON Schema is listed as it was given', () => {
    expect(input(schema).json).toBe(schema);
    expect(input({ properties: {} }).json).toEqual({ type: 'object', properties: {} });
  });

  it('lets a value through as it is', async () => {
    const value = { a: 'x' };
    expect(await input({ type: 'object' }).check(value)).toEqual({ value });
  });

  it('tells all problems, what is missing first', async () => {
    expect(await input(schema).check({ b: { 'c/d': 'x' }, e: 1 })).toEqual({
      problems: [
        { path: 'a', error: 'Required parameter missing', missing: true },
        { path: 'constructor', error: 'Required parameter missing', missing: true },
        { path: 'e', error: 'Unknown parameter', missing: false },
        { path: 'b.c/d', error: 'Must be number', missing: false },
      ],
    });
  });

  it('tells only the first problem of a large value', async () => {
    const list = input({ type: 'object', properties: { list: { items: { type: 'string' } } } });
    const verdict = await list.check({ list: Array.from({ length: 5000 }, (_, index) => index) });
    expect(verdict.problems).toEqual([{ path: 'list.0', error: 'Must be string', missing: false }]);
  });

  it('names the values of a choice', async () => {
    const verdict = await input({ properties: { unit: { enum: ['c', 'f'] } } }).check({ unit: 'k' });
    expect(verdict.problems).toEqual([{ path: 'unit', error: 'Must be one of ["c","f"]', missing: false }]);
  });

  it('a plain JSON Schema is read in the draft it names', async () => {
    const tuple = { type: 'object', properties: { pair: { items: [{ type: 'string' }], additionalItems: false } } };
    const draft07 = input({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple });
    expect((await draft07.check({ pair: [1] })).problems).toHaveLength(1);
    const newest = input({ properties: { pair: { prefixItems: [{ type: 'string' }] } } });
    expect((await newest.check({ pair: [1] })).problems).toHaveLength(1);
  });

  it('a plain JSON Schema may refer to its own parts', async () => {
    const tree = input({ $ref: '#/$defs/node', $defs: { node: { properties: { child: { $ref: '#/$defs/node' } } } } });
    expect(await tree.check({ child: { child: {} } })).toHaveProperty('value');
  });

  it('a plain JSON Schema may share its $id with another one', async () => {
    const named = { $id: 'https://example.com/s', type: 'object' };
    expect(await input({ ...named }).check({})).toHaveProperty('value');
    expect(await input({ ...named, required: ['a'] }).check({})).toHaveProperty('problems');
  });

  it.each([
    [{ properties: { a: { $ref: 'https://example.com/a.json' } } }, /cannot be compiled/],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, /cannot be compiled/],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema' }, /not supported/],
    [{ type: 'string' }, /must describe an object/],
    ['text' as unknown as Schema, /is not a schema/],
  ])('is refused when it is %j', (schema, reason) => {
    expect(() => input(schema)).toThrow(reason);
  });
});

describe('a zod schema', () => {
  const schema = z.object({
    city: z.string(),
    days: z.number().default(3),
    at: z.object({ lat: z.number() }).optional(),
  });

  it('a zod schema is listed by its input', () => {
    expect(input(schema).json).toMatchObject({ type: 'object', required: ['city'] });
  });

  it('a zod schema is listed by its output where it describes a result', () => {
    const { json } = toCheckedSchema(schema, { side: 'output', option: 'output' });
    expect(json).toMatchObject({ required: ['city', 'days'] });
  });

  it('gives the handler what it makes of the value', async () => {
    expect(await input(schema).check({ city: 'Oslo', other: 1 })).toEqual({ value: { city: 'Oslo', days: 3 } });
  });

  it('tells problems by dotted path', async () => {
    const verdict = await input(schema).check({ days: 'x', at: {} });
    expect(verdict.problems).toEqual([
      { path: 'city', error: 'Required parameter missing', missing: true },
      { path: 'days', error: expect.stringContaining('expected number') as string, missing: false },
      { path: 'at.lat', error: 'Required parameter missing', missing: true },
    ]);
  });

  it('a zod schema may blame an optional field that is absent without calling it missing', async () => {
    const range = z.object({ from: z.number(), to: z.number().optional() });
    const ordered = range.refine(() => false, { path: ['to'], message: 'Must follow from' });
    const verdict = await input(ordered).check({ from: 1 });
    expect(verdict.problems).toEqual([{ path: 'to', error: 'Must follow from', missing: false }]);
  });

  it('a zod schema may check asynchronously', async () => {
    const taken = z.object({ name: z.string().refine(async (name) => name !== 'bob', 'is taken') });
    expect(await input(taken).check({ name: 'eve' })).toEqual({ value: { name: 'eve' } });
    expect((await input(taken).check({ name: 'bob' })).problems?.[0]).toMatchObject({ error: 'is taken' });
  });

  it('a zod schema may be a union of objects', () => {
    expect(input(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])).json).toMatchObject({
      type: 'object',
      anyOf: expect.any(Array) as unknown[],
    });
  });

  it('a zod schema is refused when it has no JSON Schema or is not an object', () => {
    expect(() => input(z.object({ at: z.date() }))).toThrow(/has no JSON Schema/);
    expect(() => input(z.string())).toThrow(/must describe an object/);
  });
});

describe('another Standard Schema', () => {
  const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const;

  it('another Standard Schema may tell its JSON Schema by a method', () => {
    const schema = { '~standard': standard, toJSONSchema: () => ({ type: 'object', title: 'mine' }) };
    expect(input(schema).json).toEqual({ type: 'object', title: 'mine' });
  });

  it('another Standard Schema may be a function', () => {
    const schema = Object.assign(() => 1, { '~standard': standard, toJSONSchema: () => ({ type: 'object' }) });
    expect(input(schema as unknown as Schema).json).toEqual({ type: 'object' });
  });

  it('another Standard Schema is refused when it cannot tell its JSON Schema', () => {
    expect(() => input({ '~standard': standard })).toThrow(/cannot tell its JSON Schema/);
  });
});
