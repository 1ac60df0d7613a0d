import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Ask } from '../authoring/ask.ts';
import { f } from '../authoring/fields.ts';
import { flow } from '../define.ts';
import { explore } from './explore.ts';
import { fitInputSchema, toInputSchema } from './to-input-schema.ts';

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
  if ((await ask.choice('more', ['yes', 'no'])) === 'yes') await ask.text('extra');
  await ask.confirm('pay', { by: 'human' });
});

it('the input schema has the declared input and the questions, but nothing that must not be an argument', async () => {
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
    type: 'string',
    minLength: 2,
    maxLength: 9,
    pattern: '^[a-z]+$',
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

it('the input schema requires all answers that are always asked if nobody can be asked', async () => {
  const { required } = toInputSchema(all, await explore(all), { needs: 'all' });
  expect(required).toEqual(['id', 'name', 'size', 'tags', 'who', 'any', 'more']);
});

describe('a list entry', () => {
  const listed = async (body: (ask: Ask) => Promise<unknown>) => {
    const tool = flow({ name: 'x' }, body);
    return toInputSchema(tool, await explore(tool))['properties'] as Record<string, Record<string, unknown>>;
  };

  it('has a question in a loop once, and no name that models refuse', async () => {
    const properties = await listed(async (ask) => {
      for (let at = 1; at <= 30; at++) await ask.text('q', { message: `Question ${at}?` });
      await ask.text('with space');
      await ask.text('ä');
      await ask.text('x'.repeat(65) as 'x');
      await ask.form('form', { 'first name': f.text() });
      await ask.text('fine.it-is_1');
    });
    expect(Object.keys(properties)).toEqual(['q', 'fine.it-is_1']);
  });

  it('has no made-up answer in any text, rule or default', async () => {
    const properties = await listed(async (ask) => {
      const name = await ask.text('name');
      const count = await ask.number('count', { message: 'How many?' });
      await ask.text('how', { message: `How bad is it for ${name}?`, help: `${name.toUpperCase()}!`, label: 'How' });
      await ask.number('of', { max: count, default: count, placeholder: String(count), min: 0 });
      if (count > 10) await ask.text('why', { message: `Why ${name.length}?`, max: count });
      if (name === 'alpha') await ask.choice('which', [name, 'other'], { message: `Which ${name}?` });
    });
    expect(properties['how']).toEqual({ type: 'string', title: 'How', description: 'How' });
    expect(properties['of']).toEqual({ type: 'number', minimum: 0, description: 'Of' });
    expect(properties['why']).toEqual({ type: 'string', description: 'Why' });
    expect(properties['which']).toEqual({ type: 'string', description: 'Which' });
    expect(JSON.stringify(properties)).not.toMatch(/alpha|omega|42/i);
  });

  it('has choices only where they are the same on every way', async () => {
    const towns = { DE: ['Berlin', 'Bonn'], FR: ['Paris', 'Lyon'] };
    const properties = await listed(async (ask) => {
      const country = await ask.choice('country', ['DE', 'FR']);
      await ask.choice('town', towns[country], { message: 'Which town?' });
      await ask.choices('others', towns[country]);
      await ask.choice('seat', ['aisle', 'window']);
    });
    expect(properties['town']).toEqual({ type: 'string', description: 'Which town?' });
    expect(properties['others']).toMatchObject({ type: 'array', items: { type: 'string' } });
    expect(properties['others']).not.toHaveProperty('items.enum');
    expect(properties['seat']).toMatchObject({ enum: ['aisle', 'window'] });
  });

  it('leaves out what does not fit, and says so', async () => {
    const long = flow({ name: 'long', input: z.object({ id: z.string() }) }, async (ask) => {
      for (let at = 0; at < 100; at++) await ask.text(`question_${at}` as 'q', { message: 'x'.repeat(50) });
    });
    const { schema, left } = fitInputSchema(long, await explore(long), { maxBytes: 2000 });
    expect(JSON.stringify(schema).length).toBeLessThanOrEqual(2000);
    const names = Object.keys(schema['properties'] as object);
    expect(names.slice(0, 2)).toEqual(['id', 'question_0']);
    expect(left).toBe(101 - names.length);
    expect(schema['description']).toContain(`${left} more`);
  });
});
