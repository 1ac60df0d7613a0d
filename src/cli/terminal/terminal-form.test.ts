// What a person is asked and what the tool is told, with typed lines as a pipe.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ElicitRequestParams } from '@modelcontextprotocol/client';
import type { GatewayError } from '../../kernel/base/errors.ts';
import { createTerminalForm } from './terminal-form.ts';
import { createTerminal } from './terminal.ts';

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2 },
    time: { type: 'string', enum: ['18:00', '19:00'], enumNames: ['early', 'late'] },
    people: { type: 'integer', description: 'with you', minimum: 1, maximum: 12, default: 2 },
    vegan: { type: 'boolean' },
    extras: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'w', title: 'wine' },
          { const: 'd', title: 'dessert' },
        ],
      },
    },
  },
  required: ['name', 'time', 'vegan'],
};

interface Asked {
  yes?: boolean;
  human?: boolean;
  isTTY?: boolean;
}

async function ask(request: object, typed: string, { yes = false, human, isTTY = false }: Asked = {}) {
  const [input, output] = [Object.assign(new PassThrough(), { isTTY }), Object.assign(new PassThrough(), { isTTY })];
  input.end(typed);
  const refused: GatewayError[] = [];
  const onRefused = (error: GatewayError) => void refused.push(error);
  const asker = createTerminalForm(createTerminal(input, output), { yes, tool: 'book_table', onRefused });
  const server = { name: 'tables', version: '1' };
  const context = { server, signal: new AbortController().signal, ...(human && { human }) };
  const params = { message: 'A table?', ...request } as unknown as ElicitRequestParams;
  const answer = await asker(params, context);
  return { answer, refused, shown: String(output.read()) };
}

describe('a form', () => {
  it('a form is filled in field by field', async () => {
    const { answer, shown } = await ask({ requestedSchema: FORM }, 'Ada\n2\n\ny\nwine, 2\n');
    expect(answer).toEqual({
      action: 'accept',
      content: { name: 'Ada', time: '19:00', people: 2, vegan: true, extras: ['w', 'd'] },
    });
    expect(shown).toContain('book_table needs your answer: A table?');
    expect(shown).toContain('people (with you) [2]: ');
    expect(shown).toContain('  2) late');
  });

  it('asks again for what does not fit, and says why', async () => {
    const typed = 'A\nAda\n3\n19:00\n13\n1.5\nx\n12\nmaybe\nno\n\n';
    const { answer, shown } = await ask({ requestedSchema: FORM }, typed);
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', time: '19:00', people: 12, vegan: false } });
    for (const words of ['at least 2 characters.', 'from 1 to 2.', 'at most 12.', 'whole number', 'Type y or n.']) {
      expect(shown).toContain(words);
    }
  });

  it('a form is declined by a word, and cancelled by the end of the input', async () => {
    expect((await ask({ requestedSchema: FORM }, 'Ada\n:no\n')).answer).toEqual({ action: 'decline' });
    expect((await ask({ requestedSchema: FORM }, 'Ada\n')).answer).toEqual({ action: 'cancel' });
  });

  it('a form is approved with its defaults, and only the rest is asked', async () => {
    const { answer, shown } = await ask({ requestedSchema: FORM }, 'Ada\n1\n', { yes: true });
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', time: '18:00', people: 2, vegan: true } });
    expect(shown).not.toContain('vegan');
    const approval = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    expect((await ask({ requestedSchema: approval }, '', { yes: true })).answer).toMatchObject({
      content: { ok: true },
    });
  });

  it('a form that only a person may answer is refused without a terminal, whatever was typed or agreed to before', async () => {
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const calledOff = { answer: { action: 'cancel' }, refused: [expect.objectContaining({ code: 'NO_TERMINAL' })] };
    for (const yes of [true, false])
      expect(await ask({ requestedSchema }, 'y\n', { yes, human: true })).toMatchObject(calledOff);
    const onTerminal = { yes: true, human: true, isTTY: true };
    expect((await ask({ requestedSchema }, 'n\n', onTerminal)).answer).toMatchObject({ content: { ok: false } });
    for (const mode of [{ requestedSchema }, { mode: 'url', url: 'https://x.test' }])
      expect(await ask(mode, 'y\n', { human: true })).toMatchObject(calledOff);
  });

  it('without fields is a question of yes or no', async () => {
    const requestedSchema = { type: 'object', properties: {} };
    expect((await ask({ requestedSchema }, 'y\n')).answer).toEqual({ action: 'accept', content: {} });
    expect((await ask({ requestedSchema }, 'n\n')).answer).toEqual({ action: 'decline' });
    expect((await ask({ requestedSchema }, '')).answer).toEqual({ action: 'cancel' });
    expect((await ask({ requestedSchema }, '', { yes: true })).answer).toEqual({ action: 'accept', content: {} });
  });

  it.each([
    [{ type: 'string', format: 'email' }, 'nobody\na@b.c\n', 'a@b.c'],
    [{ type: 'string', format: 'date' }, 'today\n1999-12-31\n', '1999-12-31'],
    [{ type: 'string', format: 'uri' }, 'x\nhttps://x.test\n', 'https://x.test'],
    [{ type: 'string', pattern: '^[a-c]+$' }, 'd\nabc\n', 'abc'],
    [{ type: 'string', pattern: '(' }, 'anything\n', 'anything'],
    [{ type: 'number', minimum: 0 }, '-1\nmany\n0.5\n', 0.5],
    [{ type: 'string', oneOf: [{ const: 'r', title: 'Red' }] }, 'Red\n', 'r'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 }, '1\na,b\n', ['a', 'b']],
  ])('knows %j', async (field, typed, value) => {
    const requestedSchema = { type: 'object', properties: { it: field }, required: ['it'] };
    expect((await ask({ requestedSchema }, typed)).answer).toEqual({ action: 'accept', content: { it: value } });
  });
});

describe('a link', () => {
  const link = { mode: 'url', url: 'https://x.test/pay', elicitationId: '1' };

  it('a link is shown, and never taken for opened', async () => {
    const { answer, shown } = await ask(link, '\n', { yes: true });
    expect(answer).toEqual({ action: 'accept' });
    expect(shown).toContain('https://x.test/pay');
    expect((await ask(link, '', { yes: true })).answer).toEqual({ action: 'cancel' });
    expect((await ask(link, ':no\n')).answer).toEqual({ action: 'decline' });
  });
});

it('a question stays on the terminal until its line is typed, and progress is not written over it', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const terminal = createTerminal(input, output);
  expect(terminal.isAsking).toBe(false);
  const asked = terminal.ask('Name: ');
  expect(terminal.isAsking).toBe(true);
  input.write('Ada\n');
  expect(await asked).toBe('Ada');
  expect(terminal.isAsking).toBe(false);
});
