import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { ExchangeCall, toFormSchema } from './call.ts';
import { FakeExchange } from './fake-exchange.contract.ts';

const answering = (answer: JsonObject) => new FakeExchange('tools/call', { answer: () => answer });

describe('a call', () => {
  it('shows its exchange to the handler', () => {
    const exchange = new FakeExchange('tools/call', { params: { _meta: { 'a/b': 1 } } });
    const call = new ExchangeCall(exchange);
    expect(call.id).toBe(exchange.id);
    expect(call.client).toBe(exchange.client);
    expect(call.signal).toBe(exchange.controller.signal);
    expect(call.meta).toEqual({ 'a/b': 1 });
    expect(call.trace).toBe(exchange.trace);
    expect(new ExchangeCall(new FakeExchange('x')).meta).toEqual({});
  });

  it('sends progress, logs and notifications through its exchange', () => {
    const exchange = new FakeExchange('tools/call');
    const call = new ExchangeCall(exchange);
    call.progress(1, 2, 'half');
    call.log('info', { a: 1 }, 'me');
    call.notify('notifications/x', { y: 1 });
    call.status('heard by nobody');
    call.releaseStream();
    call.releaseStream(50);
    expect(exchange.progressed).toEqual([{ progress: 1, total: 2, message: 'half' }]);
    expect(exchange.logged).toEqual([{ level: 'info', data: { a: 1 }, logger: 'me' }]);
    expect(exchange.notified).toEqual([['notifications/x', { y: 1 }]]);
    expect(exchange.released).toEqual([500, 50]);
  });
});

describe('a question', () => {
  it('a question may be a form', async () => {
    const exchange = answering({ action: 'accept', content: { ok: true } });
    const { ask } = new ExchangeCall(exchange);
    const schema = { ok: { type: 'boolean' } };
    expect(await ask.elicit({ message: 'Sure?', schema, key: 'sure' })).toEqual({
      action: 'accept',
      content: { ok: true },
    });
    const requestedSchema = { type: 'object', properties: schema };
    const params = { mode: 'form', message: 'Sure?', requestedSchema };
    expect(exchange.asked).toEqual([{ method: 'elicitation/create', params, key: 'sure' }]);
  });

  it.each([
    [{ n: 'three' }, 'n: Must be integer'],
    [{}, 'n: Required parameter missing'],
    [undefined, 'n: Required parameter missing'],
    [{ n: 9 }, 'n: Must be <= 4'],
  ])('gives a handler no answer that does not fit its form: %j', async (content, reason) => {
    const schema = { type: 'object', properties: { n: { type: 'integer', maximum: 4 } }, required: ['n'] };
    const exchange = new FakeExchange('tools/call', { answer: () => ({ action: 'accept', content }) });
    const answer = new ExchangeCall(exchange).ask.elicit({ message: 'How many?', schema });
    await expect(answer).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
      message: expect.stringContaining(reason),
    });
  });

  it.each(['decline', 'cancel'])('takes %s for an answer, whatever the form', async (action) => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const exchange = new FakeExchange('tools/call', { answer: () => ({ action }) });
    expect(await new ExchangeCall(exchange).ask.elicit({ message: 'How many?', schema })).toEqual({ action });
  });

  it('a question is refused before it is sent when its form is not flat', async () => {
    const exchange = answering({});
    const nested = new ExchangeCall(exchange).ask.elicit({ message: '', schema: { a: { type: 'object' } } });
    await expect(nested).rejects.toMatchObject({ code: 'BAD_OPTION' });
    expect(exchange.asked).toEqual([]);
  });

  it('a question may be a page, with an id that is given or cannot be guessed', async () => {
    const exchange = answering({ action: 'accept' });
    const { ask } = new ExchangeCall(exchange);
    const page = { message: 'Sign', url: 'https://example.com' };
    await ask.elicitUrl({ ...page, elicitationId: 'e1' });
    await ask.elicitUrl(page);
    expect(exchange.asked[0]).toEqual({
      method: 'elicitation/create',
      params: { mode: 'url', ...page, elicitationId: 'e1' },
    });
    expect(exchange.asked[1]?.params?.['elicitationId']).toMatch(/^[\w-]{22}$/);
  });

  it('a question may be for the model', async () => {
    const exchange = answering({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' });
    const params = { messages: [], maxTokens: 5 };
    const result = await new ExchangeCall(exchange).ask.sample({ ...params, key: 'k' });
    expect(result.model).toBe('m');
    expect(exchange.asked).toEqual([{ method: 'sampling/createMessage', params, key: 'k' }]);
  });

  it('a question for roots lets file URIs through only', async () => {
    const file = { uri: 'file:///a', name: 'A' };
    const { ask } = new ExchangeCall(answering({ roots: [file, { uri: 'http://a' }, null, {}] }));
    expect(await ask.roots()).toEqual([file]);
    expect(await new ExchangeCall(answering({})).ask.roots()).toEqual([]);
  });

  it('a question may be a ping', async () => {
    const exchange = answering({});
    await new ExchangeCall(exchange).ask.ping();
    expect(exchange.asked).toEqual([{ method: 'ping' }]);
  });

  it('a question can be known to be impossible', async () => {
    const { ask } = new ExchangeCall(answering({}));
    expect(['elicit', 'sample', 'sample-tools', 'roots'].map((kind) => ask.can(kind as 'roots'))).not.toContain(false);
    expect(ask.can('elicit-url')).toBe(false);
    const mute = new ExchangeCall(new FakeExchange('tools/call')).ask;
    expect(mute.can('roots')).toBe(false);
    await expect(mute.roots()).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });
});

describe('the schema of a form', () => {
  it('the schema of a form may be given as its properties, even when one is called "type"', () => {
    const properties = { type: { type: 'string' }, properties: { type: 'number' } };
    expect(toFormSchema(properties)).toEqual({ type: 'object', properties });
  });

  it('the schema of a form may be given whole', () => {
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
