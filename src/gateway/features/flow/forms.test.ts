// Converts questions between MCP and MCP Flow, in both directions.
import { describe, expect, it } from 'vitest';
import type { Prompt } from '../../../kernel/form/prompt.ts';
import { isPromptable, toFormPrompts } from './emulate/form-prompts.ts';
import { fromPromptAnswer, toPromptAsk } from '../../servers/flow/run-flow-tool.ts';

const form = (properties: object, required: string[] = []) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Please', requestedSchema: { type: 'object', properties, required } },
});
const asked = (prompt: Prompt) => toPromptAsk(prompt, undefined).params!.requestedSchema;
const answered = (prompt: Prompt, answer: unknown) =>
  fromPromptAnswer(prompt, { action: 'accept', content: { answer } });

describe('the fields of a form as prompts', () => {
  it.each([
    [
      { type: 'string', minLength: 2, maxLength: 9 },
      { type: 'text', validation: { required: true, min: 2, max: 9 } },
    ],
    [
      { type: 'string', format: 'email' },
      { type: 'text', validation: { required: true, format: 'email' } },
    ],
    [
      { type: 'string', format: 'date' },
      { type: 'date', validation: { required: true } },
    ],
    [
      { type: 'integer', minimum: 1 },
      { type: 'number', validation: { required: true, min: 1, integer: true } },
    ],
    [
      { type: 'boolean', default: false },
      { type: 'confirm', defaultValue: false, validation: { required: true } },
    ],
    [{ type: 'object' }, { type: 'custom', validation: { required: true } }],
    [
      { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      { type: 'choice', choices: [{ value: 'a', label: 'A' }], validation: { required: true } },
    ],
    [
      { type: 'array', items: { enum: ['a'] }, maxItems: 1 },
      {
        type: 'custom',
        choices: [{ value: 'a', label: 'a' }],
        schema: { type: 'array', items: { enum: ['a'] }, maxItems: 1 },
        validation: { required: true },
      },
    ],
  ])('%j', (property, prompt) => {
    expect(toFormPrompts(form({ x: property }, ['x'])).map((one) => one.prompt)).toEqual([
      { message: 'Please', ...prompt },
    ]);
  });

  it('come one by one, each named, and are checked', () => {
    const [name, age] = toFormPrompts(
      form({ name: { type: 'string', title: 'Name' }, age: { type: 'number' } }, ['name']),
    );
    expect([name!.prompt.message, age!.prompt.message]).toEqual(['Please\nName', 'age']);
    expect(name!.check('')).toEqual({ error: expect.any(String) });
    expect([age!.check('3'), age!.check(null)]).toEqual([{ value: 3 }, { value: undefined }]);
  });

  it('the fields of a form are a yes or no for a page and for a form without fields', () => {
    const page = { method: 'elicitation/create', params: { mode: 'url', message: 'Log in', url: 'https://a.example' } };
    expect(toFormPrompts(page)[0]!.prompt).toMatchObject({ type: 'confirm', url: 'https://a.example' });
    expect(toFormPrompts(form({}))[0]!.prompt).toMatchObject({ type: 'confirm', message: 'Please' });
    expect(toFormPrompts(page)[0]!.check('yes')).toEqual({ error: expect.any(String) });
  });

  it('never ask for secrets and files', () => {
    expect(isPromptable(form({ x: { type: 'string', format: 'password' } }))).toBe(false);
    expect(isPromptable({ ...form({ x: { type: 'string' } }), page: true })).toBe(false);
    expect(isPromptable({ method: 'sampling/createMessage' })).toBe(false);
    expect(isPromptable(form({ x: { type: 'string' } }))).toBe(true);
  });
});

describe('a prompt as a form', () => {
  it('the form of a prompt has the rules of the prompt, after the problem with the last answer', () => {
    const prompt: Prompt = {
      type: 'text',
      message: 'Where to?',
      validation: { required: true, min: 2, pattern: '^[a-z]+$' },
    };
    expect(toPromptAsk(prompt, 'Too short').params).toMatchObject({ mode: 'form', message: 'Too short\nWhere to?' });
    expect(asked(prompt)).toEqual({
      type: 'object',
      properties: { answer: { title: 'Your answer', type: 'string', minLength: 2, pattern: '^[a-z]+$' } },
      required: ['answer'],
    });
  });

  it('returns options with their original type', () => {
    const choices = [
      { value: 1, label: 'One' },
      { value: { a: 1 }, label: 'Object' },
    ];
    const prompt: Prompt = { type: 'choice', message: '?', choices };
    expect(asked(prompt)).toMatchObject({ properties: { answer: { oneOf: [{ const: '1' }, { const: '{"a":1}' }] } } });
    expect([answered(prompt, '1'), answered(prompt, '{"a":1}')]).toEqual([{ value: 1 }, { value: { a: 1 } }]);
    const several: Prompt = { type: 'custom', message: '?', choices, schema: { type: 'array' } };
    expect(answered(several, ['1'])).toEqual({ value: [1] });
  });

  it('the form of a prompt is its own one if it has one, else JSON', () => {
    const flat: Prompt = {
      type: 'custom',
      message: '?',
      schema: { type: 'object', properties: { a: { type: 'string' } } },
    };
    expect(asked(flat)).toEqual(flat.schema);
    expect(fromPromptAnswer(flat, { action: 'accept', content: { a: 'x' } })).toEqual({ value: { a: 'x' } });
    const deep: Prompt = { type: 'custom', message: '?' };
    expect([answered(deep, '{"a":[1]}'), answered(deep, 'no json')]).toEqual([
      { value: { a: [1] } },
      { value: 'no json' },
    ]);
  });

  it('takes a declined yes-or-no question as no, and any other as no answer', () => {
    expect(fromPromptAnswer({ type: 'confirm', message: '?' }, { action: 'decline' })).toEqual({ value: false });
    expect(fromPromptAnswer({ type: 'text', message: '?' }, { action: 'decline' })).toBeUndefined();
    expect(fromPromptAnswer({ type: 'confirm', message: '?' }, { action: 'cancel' })).toBeUndefined();
  });

  it('asks for files only on a page', () => {
    const prompt: Prompt = { type: 'file', message: '?', validation: { accept: ['.csv'], maxBytes: 9 } };
    expect(toPromptAsk(prompt, undefined).page).toBe(true);
    expect(asked(prompt)).toMatchObject({
      properties: { answer: { 'x-parley': 'file', accept: '.csv', maxBytes: 9 } },
    });
  });
});
