import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { formRound } from './fake-round.contract.ts';
import { readForm } from './read-form.ts';
import { toSections } from './render/sections.ts';

type Values = Record<string, string | string[] | File>;

async function read(properties: JsonObject, values: Values, required?: string[]): Promise<unknown> {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) for (const one of [value].flat()) form.append(name, one);
  const result = await readForm(toSections(formRound(properties, required)), form);
  if (!result.filled) return result.answers['only']!.content;
  return [...result.filled[0]!.problems.values()].map(({ code }) => code);
}

const one = (schema: JsonObject, values: Values) => read({ it: schema }, values);

describe('a posted form', () => {
  it('a posted form is converted to values of the right types', async () => {
    const properties = {
      text: { type: 'string' },
      long: { type: 'string', 'x-parley': 'multiline' },
      amount: { type: 'number' },
      count: { type: 'integer' },
      sure: { type: 'boolean' },
      color: {
        oneOf: [
          { const: '#f00', title: 'Red' },
          { const: '#0f0', title: 'Green' },
        ],
      },
      meals: { type: 'array', items: { enum: ['lunch', 'dinner', 'supper'] } },
      day: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      more: { type: 'object' },
      key: { type: 'string', format: 'password' },
    };
    const values = {
      'q0.0': ' Ada ',
      'q0.1': 'one\r\ntwo',
      'q0.2': '3,5',
      'q0.3': '4',
      'q0.4': 'false',
      'q0.5': '1',
      'q0.6': ['0', '2'],
      'q0.7': '2027-01-31',
      'q0.8': '2027-01-31T12:00',
      'q0.8.zone': '+00:00',
      'q0.9': '{"a":[1]}',
      'q0.10': ' s3cret ',
    };
    expect(await read(properties, values)).toEqual({
      text: ' Ada ',
      long: 'one\ntwo',
      amount: 3.5,
      count: 4,
      sure: false,
      color: '#0f0',
      meals: ['lunch', 'supper'],
      day: '2027-01-31',
      at: '2027-01-31T12:00:00Z',
      more: { a: [1] },
      key: ' s3cret ',
    });
  });

  it('a posted form may leave optional fields empty, which are then omitted', async () => {
    const properties = { a: { type: 'string' }, b: { type: 'number' }, c: { enum: ['x'] }, d: { type: 'boolean' } };
    const time = {
      e: { type: 'string', format: 'date-time' },
      f: { type: 'array', items: { enum: ['x'] }, minItems: 1 },
    };
    const values = { 'q0.0': '', 'q0.1': '', 'q0.2': '', 'q0.3': '', 'q0.4': '', 'q0.4.zone': '+01:00' };
    expect(await read({ ...properties, ...time }, values, [])).toEqual({});
    expect(await read({ ...properties, ...time }, {}, ['a', 'b', 'c', 'd', 'e', 'f'])).toEqual(
      Array(6).fill('required'),
    );
  });

  it('accepts only option numbers for a choice', async () => {
    for (const sent of ['7', '-1', 'x', '0x0', '1e0', 'length', '__proto__'])
      expect([sent, await one({ enum: ['a', 'b'] }, { 'q0.0': sent })]).toEqual([sent, ['choice']]);
    expect(await one({ type: 'array', items: { enum: ['a'] } }, { 'q0.0': ['0', '9'] })).toEqual(['choice']);
  });

  it('needs a zone for a time without one', async () => {
    const time = { type: 'string', format: 'date-time' };
    expect(await one(time, { 'q0.0': '2027-01-31T12:00' })).toEqual(['dateTime']);
    expect(await one(time, { 'q0.0': '2027-01-31T12:00', 'q0.0.zone': 'Mars' })).toEqual(['dateTime']);
    expect(await one(time, { 'q0.0': '2027-01-31T12:00:30', 'q0.0.zone': '-03:30' })).toEqual({
      it: '2027-01-31T12:00:30-03:30',
    });
    expect(await one(time, { 'q0.0': '2027-01-31T12:00:00Z' })).toEqual({ it: '2027-01-31T12:00:00Z' });
  });

  it('converts a file to its name, type and content', async () => {
    const schema = { type: 'object', 'x-parley': 'file', accept: '.txt', maxBytes: 10 };
    const file = (name: string, text: string) => ({ 'q0.0': new File([text], name, { type: 'text/plain' }) });
    expect(await one(schema, file('a.txt', 'hello'))).toEqual({
      it: { name: 'a.txt', mimeType: 'text/plain', data: 'aGVsbG8=' },
    });
    expect(await one(schema, file('a.txt', 'hello hello'))).toEqual(['fileTooLarge']);
    expect(await one(schema, file('a.exe', 'hello'))).toEqual(['fileType']);
    expect(await one(schema, file('', ''))).toEqual(['required']);
    expect(await one(schema, { 'q0.0': 'text' })).toEqual(['required']);
  });

  it('accepts only valid JSON in a JSON field', async () => {
    expect(await one({ type: 'object' }, { 'q0.0': '{' })).toEqual(['json']);
    expect(await one({ type: 'object' }, { 'q0.0': ' ' })).toEqual(['required']);
  });
});
