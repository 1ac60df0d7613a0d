import { expect, test } from 'vitest';
import { fillDefaults } from './ask-responder.ts';

const properties = {
  name: { type: 'string', default: 'Ann' },
  age: { type: 'integer', default: 0 },
  news: { type: 'boolean', default: false },
  city: { type: 'string' },
  constructor: { type: 'string', default: 'Brunel' },
};
const request = { message: 'x', requestedSchema: { type: 'object', properties } };

test('what the user left out gets its default, falsy ones too', () => {
  expect(fillDefaults({ action: 'accept', content: { age: 3 } }, request).content).toEqual({
    name: 'Ann',
    age: 3,
    news: false,
    constructor: 'Brunel',
  });
  expect(fillDefaults({ action: 'accept' }, request).content).toMatchObject({ name: 'Ann' });
});

test('what the user gave stays, falsy values too', () => {
  const content = { name: '', age: 0, news: false };
  expect(fillDefaults({ action: 'accept', content }, request).content).toMatchObject(content);
});

test.each(['decline', 'cancel'] as const)('%s stays as it is', (action) => {
  const result = { action };
  expect(fillDefaults(result, request)).toBe(result);
});

test.each([{}, { requestedSchema: 5 }, { requestedSchema: {} }, { requestedSchema: { properties: [] } }])(
  'a request without a form, %j, changes nothing',
  (odd) => {
    const result = { action: 'accept' as const, content: { a: 1 } };
    expect(fillDefaults(result, odd)).toBe(result);
  },
);

test('a field named __proto__ is a field like any other', () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"default":"x"}}}') as object;
  const { content } = fillDefaults({ action: 'accept', content: {} }, { requestedSchema: schema });
  expect(Object.getPrototypeOf(content)).toBe(Object.prototype);
  expect(Object.keys(content ?? {})).toEqual(['__proto__']);
});
