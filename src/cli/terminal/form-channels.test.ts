// One contract for the answers to a form, over every channel that takes them: what one refuses, no other accepts.
import { PassThrough } from 'node:stream';
import type { ElicitRequestParams } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { toSections } from '../../people/page/render/sections.ts';
import { readForm } from '../../people/page/read-form.ts';
import type { QuestionRound } from '../../people/question-round.ts';
import { checkAnswer } from '../../flow/question/check-answer.ts';
import type { Field } from '../../flow/question/question.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { validateAnswer } from '../../kernel/form/validate-answer.ts';
import { ExchangeAsker } from '../../sdk/server/call.ts';
import { parseTypedAnswer } from './typed-answer.ts';
import { createTerminal } from './terminal.ts';
import { createTerminalForm } from './terminal-form.ts';

const REFUSED = 'refused';
const form = (field: JsonObject) => ({ type: 'object', properties: { it: field }, required: ['it'] });

/** How each channel takes the text that somebody wrote. */
const WRITTEN: Record<string, (field: JsonObject, text: string) => Promise<unknown>> = {
  async page(field, text) {
    const ask = { method: 'elicitation/create', params: { message: '?', requestedSchema: form(field) } };
    const posted = new FormData();
    posted.set('q0.0', text);
    const read = await readForm(toSections({ questions: [{ key: 'k', ask }] } as unknown as QuestionRound), posted);
    return 'answers' in read ? (read.answers['k']!.content as JsonObject)['it'] : REFUSED;
  },
  async terminal(field, text) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(`${text}\n`);
    const ask = createTerminalForm(createTerminal(input, output), { yes: false, tool: 't', onRefused: () => {} });
    const params = { message: '?', requestedSchema: form(field) } as unknown as ElicitRequestParams;
    const { signal } = new AbortController();
    const { content } = await ask(params, { server: { name: 's', version: '1' }, signal });
    return content ? content['it'] : REFUSED;
  },
  model: (field, text) => {
    const { content } = validateAnswer(form(field), { it: text });
    return Promise.resolve(content ? content['it'] : REFUSED);
  },
  'a typed answer of a flow': (field, text) => {
    const question = toQuestion(field);
    const checked = checkAnswer(parseTypedAnswer(question, text), question);
    return Promise.resolve('value' in checked ? checked.value : REFUSED);
  },
};

/** How each channel takes a value. */
const GIVEN: Record<string, (field: JsonObject, value: unknown) => Promise<unknown>> = {
  async elicitation(field, value) {
    const exchange = { ask: () => Promise.resolve({ action: 'accept', content: { it: value } }) };
    const asker = new ExchangeAsker(exchange as unknown as Exchange);
    const elicited = asker.elicit({ message: '?', schema: form(field) });
    return elicited.then(
      ({ content }) => (content as JsonObject)['it'],
      () => REFUSED,
    );
  },
  flow: (field, value) => {
    const checked = checkAnswer(value, toQuestion(field));
    return Promise.resolve('value' in checked ? checked.value : REFUSED);
  },
};

function toQuestion(schema: JsonObject): Field {
  const { type, format, pattern, minLength: min, maxLength: max } = schema as Record<string, never>;
  const kind = type === 'boolean' ? 'confirm' : type === 'string' ? (format === 'date' ? 'date' : 'text') : 'number';
  const validation = {
    required: true,
    ...(kind === 'text' && { format, pattern, min, max }),
    integer: type === 'integer',
  };
  return { kind, prompt: { type: kind, message: '?', validation } };
}

const text = (rules: JsonObject = {}) => ({ type: 'string', ...rules });

describe.each(Object.keys(WRITTEN))('written for the %s', (channel) => {
  it.each<[unknown, string, JsonObject]>([
    ['ada@example.com', 'ada@example.com', text({ format: 'email' })],
    [REFUSED, 'a@b', text({ format: 'email' })],
    ['2024-02-29', '2024-02-29', text({ format: 'date' })],
    [REFUSED, '2025-13-45', text({ format: 'date' })],
    ['urn:x:y', 'urn:x:y', text({ format: 'uri' })],
    [REFUSED, 'x:y z', text({ format: 'uri' })],
    ['👩', '👩', text({ maxLength: 1 })],
    [REFUSED, '👩👩', text({ maxLength: 1 })],
    [REFUSED, `${'a'.repeat(40)}b`, text({ pattern: '^(a+)+$' })],
    [16, '16', { type: 'number' }],
    [3.5, '3,5', { type: 'number' }],
    [REFUSED, '0x10', { type: 'number' }],
    [REFUSED, '1.5', { type: 'integer' }],
    [true, 'yes', { type: 'boolean' }],
    [false, 'No', { type: 'boolean' }],
    [REFUSED, 'maybe', { type: 'boolean' }],
  ])('%j is what %j means', async (value, written, field) => {
    expect(await WRITTEN[channel]!(field, written)).toEqual(value);
  });
});

describe.each(Object.keys(GIVEN))('given by %s', (channel) => {
  it.each<[boolean, unknown, JsonObject]>([
    [true, 'ada@example.com', text({ format: 'email' })],
    [false, 'a@b', text({ format: 'email' })],
    [false, '2025-13-45', text({ format: 'date' })],
    [false, 'x:y z', text({ format: 'uri' })],
    [true, '👩', text({ maxLength: 1 })],
    [false, 'a\0b', text()],
    [false, `${'a'.repeat(40)}b`, text({ pattern: '^(a+)+$' })],
    [true, 16, { type: 'number' }],
    [false, '16', { type: 'number' }],
    [false, 1.5, { type: 'integer' }],
    [true, false, { type: 'boolean' }],
    [false, 'yes', { type: 'boolean' }],
  ])('it is %j that %j is taken', async (isTaken, value, field) => {
    expect(await GIVEN[channel]!(field, value)).toEqual(isTaken ? value : REFUSED);
  });
});

it('one letter for yes or no is what people type on a terminal, and nowhere else', async () => {
  const yes = Object.keys(WRITTEN).map((channel) => WRITTEN[channel]!({ type: 'boolean' }, 'y'));
  expect(await Promise.all(yes)).toEqual([REFUSED, true, REFUSED, true]);
});
