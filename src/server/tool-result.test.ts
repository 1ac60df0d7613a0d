import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../shared/errors.ts';
import { toCheckedSchema } from './schema/schema.ts';
import { toToolResult } from './tool-result.ts';
import type { Schema } from './types.ts';

const text = (text: string) => ({ type: 'text', text });
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

  it('is checked against the output schema and sent as the schema makes it', async () => {
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
    'is never passed on when it is %j against its schema',
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

  it('is not checked when it says that it failed', async () => {
    const failed = { content: [text('no')], isError: true };
    expect(await toToolResult(failed, withOutput({ required: ['price'] }))).toEqual(failed);
  });

  it('is structured where the schema is for an array', async () => {
    expect(await toToolResult([1, 2], withOutput({ type: 'array' }))).toEqual({
      content: [text('[1,2]')],
      structuredContent: [1, 2],
      isError: false,
    });
  });
});
