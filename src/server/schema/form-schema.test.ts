import { describe, expect, it } from 'vitest';
import { toFormSchema } from './form-schema.ts';

describe('the schema of a form', () => {
  it('may be given as its properties, even when one is called "type"', () => {
    const properties = { type: { type: 'string' }, properties: { type: 'number' } };
    expect(toFormSchema(properties)).toEqual({ type: 'object', properties });
  });

  it('may be given whole', () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    expect(toFormSchema(schema)).toBe(schema);
  });

  it.each([
    { type: 'string', format: 'email' },
    { type: 'number', minimum: 1 },
    { type: 'integer' },
    { type: 'boolean', default: true },
    { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
    { type: 'array', items: { type: 'string', enum: ['a'] } },
    { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
  ])('takes %j', (field) => {
    expect(toFormSchema({ field })).toEqual({ type: 'object', properties: { field } });
  });

  it.each([
    { type: 'object', properties: {} },
    { type: 'array', items: { type: 'string' } },
    { type: 'array', items: { type: 'object' } },
    { type: 'string', enum: [1] },
    { type: 'string', oneOf: [{ title: 'A' }] },
    { enum: ['a'] },
    'text',
    null,
  ])('refuses %j and says which field it is', (field) => {
    expect(() => toFormSchema({ field })).toThrow(/^form field field: /);
  });
});
