import { expect, it } from 'vitest';
import { z } from 'zod';
import { f } from '../authoring/fields.ts';
import { flow } from '../define.ts';
import { explore } from './explore.ts';
import { toInputSchema } from './to-input-schema.ts';

const all = flow({ name: 'all', input: z.object({ id: z.string(), city: z.string().optional() }) }, async (ask) => {
  await ask.text('city');
  await ask.text('name', { message: 'Who?', min: 2, max: 9, pattern: '^[a-z]+$', help: 'As in the passport.' });
  await ask.number('age', { min: 0, integer: true, default: 7 });
  await ask.date('day', { min: '2026-01-01', required: false });
  await ask.choice('size', [
    { value: 1, label: 'Small' },
    { value: 2, label: 'Large' },
  ]);
  await ask.choices('tags', ['a', 'b'], { max: 2 });
  await ask.form('who', { first: f.text(), last: f.text({ required: false }) });
  await ask.custom('any', { schema: { type: 'array', items: { type: 'string' } } });
  await ask.text('pin', { secret: true });
  await ask.confirm('pay', { by: 'human' });
  if (await ask.confirm('more')) await ask.text('extra');
});

it('holds what is declared and what is asked, but nothing that must not be an argument', async () => {
  const schema = toInputSchema(all, await explore(all));
  expect(schema['required']).toEqual(['id']);
  const properties = schema['properties'] as Record<string, unknown>;
  expect(Object.keys(properties)).toEqual([
    'id',
    'city',
    'name',
    'age',
    'day',
    'size',
    'tags',
    'who',
    'any',
    'more',
    'extra',
  ]);
  expect(properties['name']).toEqual({
    ...{ type: 'string', minLength: 2, maxLength: 9, pattern: '^[a-z]+$' },
    description: 'Who? As in the passport.',
  });
  expect(properties['age']).toEqual({ type: 'integer', minimum: 0, description: 'Age', default: 7 });
  expect(properties['day']).toEqual({
    type: 'string',
    format: 'date',
    formatMinimum: '2026-01-01',
    description: 'Day',
  });
  expect(properties['size']).toMatchObject({
    oneOf: [
      { const: 1, title: 'Small' },
      { const: 2, title: 'Large' },
    ],
  });
  expect(properties['tags']).toMatchObject({ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 2 });
  expect(properties['who']).toMatchObject({ type: 'object', required: ['first'], additionalProperties: false });
});

it('wants all that is always asked where nobody can be', async () => {
  const { required } = toInputSchema(all, await explore(all), 'all');
  expect(required).toEqual(['id', 'name', 'size', 'tags', 'who', 'any', 'more']);
});
