import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { FakeExchange, answerOf, fakeClient } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { ToolHandler, ToolOptions, Schema } from './types.ts';
import { toCheckedSchema } from './schema.ts';
import { toToolResult } from './tools.ts';

const create = (options = {}) => new Server({ name: 'test', version: '1', ...options });
const call = (server: Server, params: JsonObject) => answerOf(server, new FakeExchange('tools/call', { params }));
const text = (text: string) => ({ type: 'text', text });

function callOne(options: ToolOptions, handler: ToolHandler<JsonObject>, params: JsonObject = {}) {
  const server = create();
  server.tool('t', options as ToolOptions<JsonObject, JsonObject>, handler);
  return call(server, { name: 't', ...params });
}

describe('a list of tools', () => {
  it('shows everything that was given and nothing else', async () => {
    const server = create();
    server.tool('bare', {}, () => undefined);
    const full = {
      title: 'Full',
      description: 'Has all',
      icons: [{ src: 'data:,' }],
      annotations: { readOnlyHint: true },
    };
    const [input, output] = [{ type: 'object', properties: {} }, { type: 'object' }];
    server.tool('full', { ...full, input, output, meta: { 'x/y': 1 } }, () => ({}));
    expect(await answerOf(server, new FakeExchange('tools/list'))).toEqual({
      tools: [
        { name: 'bare', inputSchema: { type: 'object' } },
        { name: 'full', ...full, inputSchema: input, outputSchema: output, _meta: { 'x/y': 1 } },
      ],
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it('comes in pages of the size that was asked for, with cache hints', async () => {
    const server = create({ pageSize: 1, cache: { ttlMs: 5, cacheScope: 'public' } });
    for (const name of ['b', 'a']) server.tool(name, {}, () => undefined);
    const first = await answerOf(server, new FakeExchange('tools/list'));
    expect(first).toMatchObject({ tools: [{ name: 'b' }], ttlMs: 5, cacheScope: 'public' });
    const params = { cursor: first['nextCursor'] };
    const second = await answerOf(server, new FakeExchange('tools/list', { params }));
    expect(second).toMatchObject({ tools: [{ name: 'a' }] });
    expect(second).not.toHaveProperty('nextCursor');
  });

  it('refuses a cursor that is not a string', async () => {
    const server = create({ declare: ['tools'] });
    const listed = answerOf(server, new FakeExchange('tools/list', { params: { cursor: 1 } }));
    await expect(listed).rejects.toMatchObject({ details: { parameter: 'cursor', error: 'Must be a string' } });
  });

  it('hands out the same objects every time', async () => {
    const server = create();
    server.tool('a', {}, () => undefined);
    const list = async () => (await answerOf(server, new FakeExchange('tools/list')))['tools'] as unknown[];
    expect((await list())[0]).toBe((await list())[0]);
  });
});

describe('one tool name with several definitions', () => {
  const server = create();
  server.tool('w', { description: 'draft', only: { dialects: ['draft'] } }, () => 'draft');
  server.tool('other', {}, () => 'other');
  server.tool('w', { description: 'r1', only: { dialects: ['handshake'], revisions: ['r1'] } }, () => 'r1');
  server.tool('w', { description: 'rest', input: { type: 'object', title: 'rest' } }, () => 'rest');

  it.each([
    [{ ...SPEAKING.draft, revision: 'r1' } as const, 'draft', ['w', 'other']],
    [{ ...SPEAKING.handshake, revision: 'r1' } as const, 'r1', ['other', 'w']],
    [{ ...SPEAKING.handshake, revision: 'r2' } as const, 'rest', ['other', 'w']],
  ])('shows %j the first one it is in scope of', async (client, expected, order) => {
    const list = await answerOf(server, new FakeExchange('tools/list', { client }));
    const tools = list['tools'] as { name: string; description?: string }[];
    expect(tools.map(({ name }) => name)).toEqual(order);
    expect(tools.find(({ name }) => name === 'w')?.description).toBe(expected);
    const result = await answerOf(server, new FakeExchange('tools/call', { client, params: { name: 'w' } }));
    expect(result['content']).toEqual([text(expected)]);
  });

  it('tells the input schema of the one the client sees', () => {
    expect(server.inputSchema('w', fakeClient())).toEqual({ type: 'object', title: 'rest' });
    expect(server.inputSchema('w', fakeClient({ ...SPEAKING.draft }))).toEqual({ type: 'object' });
    expect(server.inputSchema('none', fakeClient())).toBeUndefined();
  });

  it('refuses a second one with an equal scope', () => {
    expect(() => server.tool('w', {}, () => '')).toThrow('tool w: is registered already');
    expect(() => server.tool('w', { only: {} }, () => '')).toThrow(GatewayError);
    const only = { revisions: ['r1', 'r1'], dialects: ['handshake' as const] };
    expect(() => server.tool('w', { only }, () => '')).toThrow(GatewayError);
  });

  it('one tool name with several definitions may be registered again after it was removed', () => {
    const own = create();
    const registration = own.tool('a', {}, () => '');
    registration.remove();
    registration.remove();
    expect(() => own.tool('a', {}, () => '')).not.toThrow();
  });
});

describe('a call of a tool', () => {
  it.each([
    [{}, { parameter: 'name', error: 'Required parameter missing' }],
    [{ name: 1 }, { parameter: 'name', error: 'Must be a string' }],
    [
      { name: 't', arguments: [] },
      { parameter: 'arguments', error: 'Must be an object' },
    ],
    [
      { name: 't', arguments: null },
      { parameter: 'arguments', error: 'Must be an object' },
    ],
  ])('with params %j is refused', async (params, details) => {
    const called = callOne({}, () => '', { name: 't', ...params, ...('name' in params ? {} : { name: undefined }) });
    await expect(called).rejects.toMatchObject({ code: 'INVALID_PARAMS', details });
  });

  it('a call of a tool that does not exist is refused by name', async () => {
    const called = callOne({}, () => '', { name: 'constructor' });
    await expect(called).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND', details: { name: 'constructor' } });
  });

  it('without a schema takes any object, and {} if arguments are missing', async () => {
    const echo = (args: JsonObject) => JSON.stringify(args);
    expect(await callOne({}, echo)).toMatchObject({ content: [text('{}')] });
    expect(await callOne({}, echo, { arguments: { a: [1] } })).toMatchObject({ content: [text('{"a":[1]}')] });
  });

  it('a call of a tool with wrong arguments names the first and lists all', async () => {
    const input = { type: 'object', properties: { b: { type: 'string' } }, required: ['a'] };
    await expect(callOne({ input }, () => '', { arguments: { b: 1 } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      details: {
        tool: 't',
        parameter: 'a',
        error: 'Required parameter missing',
        reason: 'a: Required parameter missing; b: Must be string',
        missing: true,
      },
    });
    const needsTwo = callOne({ input: { type: 'object', minProperties: 2 } }, () => '');
    await expect(needsTwo).rejects.toMatchObject({ details: { parameter: 'arguments', missing: false } });
  });

  it('gives the handler what its schema makes of the arguments', async () => {
    const server = create();
    server.tool('t', { input: z.object({ n: z.string().transform(Number) }) }, ({ n }) => {
      expectTypeOf(n).toEqualTypeOf<number>();
      return `${n + 1}`;
    });
    const result = await call(server, { name: 't', arguments: { n: '41' } });
    expect(result['content']).toEqual([text('42')]);
  });

  it('never touches the signal unless the handler does', async () => {
    const server = create();
    server.tool('t', {}, (_, call) => (call.meta['look'] === true ? String(call.signal.aborted) : 'no'));
    const blind = new FakeExchange('tools/call', { params: { name: 't' } });
    await answerOf(server, blind);
    expect(blind.signalReads).toBe(0);
    const looking = new FakeExchange('tools/call', { params: { name: 't', _meta: { look: true } } });
    await answerOf(server, looking);
    expect(looking.signalReads).toBe(1);
  });
});

describe('a handler that throws', () => {
  const failing = (thrown: unknown) => callOne({}, () => Promise.reject(thrown));

  it('gives its message to the model as a failed result', async () => {
    expect(await failing(new Error('No such city'))).toEqual({ content: [text('No such city')], isError: true });
    expect(await failing('plain')).toEqual({ content: [text('plain')], isError: true });
  });

  it('passes errors of the protocol as they are', async () => {
    const errors = [new ProtocolError(-32042, 'Mine'), new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'roots' })];
    for (const error of errors) await expect(failing(error)).rejects.toBe(error);
  });

  it('because its question was refused tells the model so', async () => {
    const refused = await failing(new GatewayError('ASK_REFUSED', { method: 'roots/list', reason: 'no' }));
    expect(refused).toEqual({ content: [text('The client refused to answer roots/list: no')], isError: true });
  });

  it('because the client cancelled is cancelled', async () => {
    const server = create();
    const exchange = new FakeExchange('tools/call', { params: { name: 't' } });
    server.tool('t', {}, () => {
      exchange.controller.abort();
      throw new Error('aborted');
    });
    await expect(answerOf(server, exchange)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('a tool', () => {
  it('without a name is refused', () => {
    expect(() => create().tool('', {}, () => '')).toThrow(/^tool name/);
  });

  it.each(['bad name', 'naïve', 'a/b', 'x'.repeat(129), 'a\n'])(
    'a tool called %j is refused, as models refuse it',
    (name) => {
      expect(() => create().tool(name, {}, () => '')).toThrow(/^tool name .* may have 1 to 128/);
      expect(() => create().tool('Fine_1.0-name', {}, () => '')).not.toThrow();
    },
  );

  it('a tool whose schema cannot be used is refused, and is not there afterwards', () => {
    const server = create();
    expect(() => server.tool('t', { input: { type: 'array' } }, () => '')).toThrow(/^input of tool t/);
    expect(server.capabilities(fakeClient())).not.toHaveProperty('tools');
  });
});

const withOutput = (schema: Schema) => ({
  key: 't',
  output: toCheckedSchema(schema, { side: 'output', option: 'output' }),
});
const plain = { key: 't', output: undefined };

describe('what a handler returns', () => {
  it.each([
    ['words', { content: [text('words')], isError: false }],
    ['', { content: [text('')], isError: false }],
    [[text('a')], { content: [text('a')], isError: false }],
    [undefined, { content: [], isError: false }],
    [
      { content: [], isError: undefined },
      { content: [], isError: false },
    ],
    [{ price: 1 }, { content: [text('{"price":1}')], structuredContent: { price: 1 }, isError: false }],
    [7, { content: [text('7')], structuredContent: 7, isError: false }],
    [
      { content: [], isError: true, _meta: { a: 1 }, x: 2 },
      { content: [], isError: true, _meta: { a: 1 }, x: 2 },
    ],
    [
      { content: [], structuredContent: {} },
      { content: [], structuredContent: {}, isError: false },
    ],
    [
      { content: 'mine' },
      { content: [text('{"content":"mine"}')], structuredContent: { content: 'mine' }, isError: false },
    ],
  ])('%j becomes a whole result', (returned, expected) => {
    expect(toToolResult(returned, plain)).toEqual(expected);
  });

  it('what a handler returns is checked against the output schema and sent as the schema makes it', async () => {
    const tool = withOutput(z.object({ price: z.number() }));
    expect(await toToolResult({ price: 1, secret: 2 }, tool)).toEqual({
      content: [text('{"price":1}')],
      structuredContent: { price: 1 },
      isError: false,
    });
    const whole = { content: [text('one')], structuredContent: { price: 1, secret: 2 } };
    expect(await toToolResult(whole, tool)).toEqual({
      content: [text('one')],
      structuredContent: { price: 1 },
      isError: false,
    });
  });

  it.each([{ price: 'x' }, undefined, 'words', { content: [] }])(
    'what a handler returns is never passed on when it is %j against its schema',
    async (returned) => {
      const tool = withOutput({ type: 'object', required: ['price'], properties: { price: { type: 'number' } } });
      const result = Promise.resolve(toToolResult(returned, tool));
      await expect(result).rejects.toThrow(new GatewayError('INTERNAL'));
      await expect(result).rejects.toMatchObject({
        details: {},
        cause: expect.objectContaining({
          message: expect.stringContaining('tool t does not match') as string,
        }) as Error,
      });
    },
  );

  it('what a handler returns is not checked when it says that it failed', async () => {
    const failed = { content: [text('no')], isError: true };
    expect(await toToolResult(failed, withOutput({ required: ['price'] }))).toEqual(failed);
  });

  it('what a handler returns is structured where the schema is for an array', async () => {
    expect(await toToolResult([1, 2], withOutput({ type: 'array' }))).toEqual({
      content: [text('[1,2]')],
      structuredContent: [1, 2],
      isError: false,
    });
  });
});
