import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../message.ts';
import { parseExactly, writeExactly } from '../raw/exact-numbers.ts';
import { validateAnswer } from './validate-answer.ts';
import { isForPageOnly, toSchemaFields } from './schema-field.ts';
import { describeProblem } from './answer-problem.ts';

const form = (properties: JsonObject, required: string[] = []) => ({ type: 'object', properties, required });

/** The value that is taken for one field, or the code of what is wrong with it. */
function checked(schema: JsonObject, given: unknown): unknown {
  const { content, problems } = validateAnswer(form({ it: schema }, ['it']), { it: given });
  return content
    ? content['it']
    : problems.map(({ code, limit }) => (limit === undefined ? code : `${code} ${limit}`))[0];
}

describe('an answer', () => {
  it('keeps its numbers as they were written', () => {
    const given = parseExactly('{"amount":12345678901234567890,"rate":1.0}');
    const { content } = validateAnswer(form({ amount: { type: 'number' }, rate: { type: 'number' } }), given);
    expect(writeExactly(content)).toBe('{"amount":12345678901234567890,"rate":1.0}');
  });

  it('an answer is accepted without optional fields', () => {
    const schema = form({ name: { type: 'string' }, age: { type: 'integer', default: 7 } }, ['name']);
    expect(validateAnswer(schema, { name: 'Ada' })).toEqual({ content: { name: 'Ada' } });
    expect(validateAnswer(schema, { name: 'Ada', age: null })).toEqual({ content: { name: 'Ada' } });
  });

  it('an answer is refused with all its problems at once', () => {
    const schema = form({ name: { type: 'string' }, age: { type: 'integer' } }, ['name', 'age']);
    const { problems } = validateAnswer(schema, { name: '', agee: 3 });
    expect(problems!.map(({ property, code }) => [property, code])).toEqual([
      ['name', 'required'],
      ['age', 'required'],
      ['agee', 'unknown'],
    ]);
  });

  it('an answer to a single field needs no name', () => {
    const schema = form({ color: { type: 'string', enum: ['red', 'green'] } }, ['color']);
    expect(validateAnswer(schema, 'red')).toEqual({ content: { color: 'red' } });
    expect(validateAnswer(form({ a: {}, b: {} }, ['a']), 'red').problems).toHaveLength(1);
  });

  it('an answer to a form without fields is empty', () => {
    for (const schema of [undefined, null, 3, {}, { properties: [] }, form({})])
      expect(validateAnswer(schema, undefined)).toEqual({ content: {} });
  });

  it('ignores prototypes and accepts any property name', () => {
    const schema = form(JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as JsonObject);
    expect(validateAnswer(schema, {})).toEqual({ content: {} });
    const { content } = validateAnswer(schema, JSON.parse('{"__proto__":"a","constructor":"b"}'));
    expect(JSON.stringify(content)).toBe('{"__proto__":"a","constructor":"b"}');
  });

  it('never throws, and validates to itself', () => {
    const kinds = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', ['string', 'null'], 7);
    const schema = fc.record(
      {
        type: kinds,
        enum: fc.array(fc.jsonValue()),
        items: fc.jsonValue(),
        pattern: fc.string(),
        minLength: fc.integer(),
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(schema, fc.jsonValue(), (schema, value) => {
        const whole = form({ it: schema });
        const { content } = validateAnswer(whole, { it: value });
        if (content) expect(validateAnswer(whole, content)).toEqual({ content });
      }),
    );
  });
});

describe('text', () => {
  it('text is checked for its length in characters and its pattern', () => {
    expect(checked({ type: 'string', minLength: 3 }, 'ab')).toBe('tooShort 3');
    expect(checked({ type: 'string', maxLength: 2 }, 'abc')).toBe('tooLong 2');
    expect(checked({ type: 'string', maxLength: 2 }, '👩👩')).toBe('👩👩');
    expect(checked({ type: 'string', pattern: '^[A-Z]{3}$' }, 'abc')).toBe('pattern ^[A-Z]{3}$');
    expect(checked({ type: 'string', pattern: 'b' }, 'abc')).toBe('abc');
    expect(checked({ type: 'string', pattern: '(' }, 'abc')).toBe('abc');
    expect(checked({ type: 'string', pattern: '[\\w-.]+' }, 'a-b')).toBe('a-b');
    expect(checked({ type: 'string' }, 42)).toBe('42');
    expect(checked({ type: 'string' }, ['a'])).toBe('text');
  });

  it('text is refused if its pattern takes for ever', () => {
    expect(checked({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`)).toBe('pattern ^(a+)+$');
  });

  it.each([
    ['email', 'ada@example.com', ['ada', 'a@b@c', '@x', 'a@', 'a b@c.de', 'a@b..c', '<a@b.c>', `a@${'b'.repeat(300)}`]],
    ['uri', 'https://example.com/a?b#c', ['example.com', '/path', 'https://', 'http://a b']],
    ['date', '2028-02-29', ['2027-02-29', '2027-13-01', '2027-1-1', '27-01-01', 'tomorrow', '2027-04-31']],
    [
      'date-time',
      '2027-01-31T12:00:00+01:00',
      ['2027-01-31', '2027-01-31T12:00', '2027-01-31T25:00:00Z', '2027-02-30T12:00:00Z'],
    ],
  ])('is checked for the format %s', (format, right, wrong) => {
    expect(checked({ type: 'string', format }, right)).toBe(right);
    const code = format === 'date-time' ? 'dateTime' : format;
    expect(wrong.map((one) => checked({ type: 'string', format }, one))).toEqual(wrong.map(() => code));
  });

  it('text of an unknown format is plain text', () => {
    expect(checked({ type: 'string', format: 'color' }, 'blue')).toBe('blue');
  });
});

describe('a number', () => {
  it.each([
    ['3', 3],
    [' 3.50 ', 3.5],
    ['-0.5', -0.5],
    ['−2', -2],
    ['1e3', 1000],
    ['3,5', 3.5],
    ['1,000', 'number'],
    ['1.000,5', 'number'],
    ['0x10', 'number'],
    ['Infinity', 'number'],
    ['1e999', 'number'],
    ['three', 'number'],
    [true, 'number'],
  ])('is read from %j as %j', (given, value) => {
    expect(checked({ type: 'number' }, given)).toBe(value);
  });

  it('a number is an integer if required, and exact', () => {
    const integer = (given: unknown) => checked({ type: 'integer' }, given);
    expect(['12', '+12', 12.0].map(integer)).toEqual([12, 12, 12]);
    expect(['1.000', '1,5', 1.5, '99999999999999999', ''].map(integer)).toEqual([
      ...Array(4).fill('integer'),
      'required',
    ]);
  });

  it('a number is checked against its bounds', () => {
    const schema = { type: 'number', minimum: 0, maximum: 10 };
    expect([-1, 0, 10, 10.1].map((one) => checked(schema, one))).toEqual(['tooSmall 0', 0, 10, 'tooLarge 10']);
  });
});

describe('a choice', () => {
  const titled = {
    type: 'string',
    oneOf: [
      { const: '#f00', title: 'Red' },
      { const: '#0f0', title: 'Green' },
    ],
  };

  it('a choice is one of its options, by value or by title', () => {
    expect(['#f00', 'Red', 'red', ' GREEN '].map((one) => checked(titled, one))).toEqual([
      '#f00',
      '#f00',
      '#f00',
      '#0f0',
    ]);
    expect(checked(titled, 'Blue')).toBe('choice Red, Green');
    expect(checked(titled, ['Red'])).toBe('choice Red, Green');
    expect(checked({ type: 'string', enum: ['a', 'b'], enumNames: ['First'] }, 'First')).toBe('a');
    expect(checked({ type: 'integer', enum: [1, 2] }, '2')).toBe(2);
  });

  it('a choice is refused if two options differ only in case', () => {
    expect(checked({ enum: ['AB', 'ab'] }, 'Ab')).toBe('choice AB, ab');
    expect(checked({ enum: ['AB', 'ab'] }, 'ab')).toBe('ab');
  });

  it('a choice of several is checked for the number of distinct options', () => {
    const many = { type: 'array', items: { anyOf: titled.oneOf }, minItems: 1, maxItems: 1 };
    expect(checked(many, ['Red', '#f00'])).toEqual(['#f00']);
    expect(checked(many, 'Red')).toEqual(['#f00']);
    expect(checked(many, [])).toBe('tooFew 1');
    expect(checked(many, ['Red', 'Green'])).toBe('tooMany 1');
    expect(checked(many, ['Red', 'Blue'])).toBe('choice Red, Green');
    expect(validateAnswer(form({ it: many }), { it: [] })).toEqual({ content: {} });
  });

  it('a choice with very many options lists some of them', () => {
    const { problems } = validateAnswer(form({ n: { enum: [...Array(500).keys()] } }, ['n']), 'x');
    expect(describeProblem(problems![0]!)).toBe('Choose one of these: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ….');
  });
});

describe('yes or no', () => {
  it('yes or no is accepted as a boolean or as a word', () => {
    const said = [true, 'true', 'Yes', false, 'no', 'maybe', 1].map((one) => checked({ type: 'boolean' }, one));
    expect(said).toEqual([true, true, true, false, false, 'boolean', 'boolean']);
  });
});

describe('a file', () => {
  const schema = { type: 'object', 'x-parley': 'file', accept: '.csv, image/*', maxBytes: 4 };
  const file = (changes: JsonObject) => ({ name: 'a.csv', mimeType: 'text/csv', data: 'YWJjZA==', ...changes });

  it('needs a name, a type and content within limits', () => {
    expect(checked(schema, file({}))).toEqual(file({}));
    expect(checked(schema, file({ name: 'x.png', mimeType: 'image/png' }))).toMatchObject({ name: 'x.png' });
    expect(checked(schema, file({ data: 'YWJjZGU=' }))).toBe('fileTooLarge 4 B');
    expect(checked(schema, file({ name: 'a.exe' }))).toBe('fileType .csv, image/*');
    expect(checked(schema, file({ data: '***' }))).toBe('file');
    expect(checked(schema, 'a.csv')).toBe('file');
  });

  it('a file has a name without a path', () => {
    expect(checked(schema, file({ name: '../../etc/x\u0000\n.csv' }))).toMatchObject({ name: 'x.csv' });
    expect(checked(schema, file({ name: 'C:\\temp\\a.csv' }))).toMatchObject({ name: 'a.csv' });
  });
});

describe('a schema', () => {
  it('a schema with a secret or a file is only for the page', () => {
    expect(isForPageOnly(form({ a: { type: 'string', format: 'password' } }))).toBe(true);
    expect(isForPageOnly(form({ a: { type: 'object', 'x-parley': 'file' } }))).toBe(true);
    expect(isForPageOnly(form({ a: { type: 'string' } }))).toBe(false);
  });

  it('a schema is read even if a generator added null', () => {
    const kinds = (schema: JsonObject) => toSchemaFields(form({ it: schema })).map(({ kind }) => kind)[0];
    expect(kinds({ anyOf: [{ type: 'integer' }, { type: 'null' }], title: 'Age' })).toBe('number');
    expect(kinds({ type: ['boolean', 'null'] })).toBe('boolean');
    expect(kinds({ anyOf: [{ type: 'integer' }, { type: 'string' }] })).toBe('json');
    expect(kinds({ type: 'array', items: { type: 'string' } })).toBe('json');
    expect(kinds({ type: 'object' })).toBe('json');
  });
});
