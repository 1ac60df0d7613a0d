import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { chainOf } from '../../../kernel/fake-exchange.contract.ts';
import { sizeLimit } from './size-limit.ts';
import type { SizeLimitOptions } from './size-limit.ts';

const limited = (result: JsonObject, options: SizeLimitOptions, method = 'tools/call') =>
  chainOf([sizeLimit(options)], () => result)(method);
const texts = (...all: string[]) => ({ content: all.map((text) => ({ type: 'text', text })) });
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('sizeLimit', () => {
  it('lets pass what is as large as it may be', async () => {
    const result = texts('ä'.repeat(100));
    expect(await limited(result, { maxBytes: bytes(result) })).toBe(result);
  });

  it('answers with an error that the model can read', async () => {
    const result = texts('ä'.repeat(1000));
    expect(await limited(result, { maxBytes: 1000 })).toEqual({
      content: [
        {
          type: 'text',
          text: `The result has ${bytes(result)} bytes; the limit is 1000. Ask for less of it.`,
        },
      ],
      isError: true,
    });
  });

  it('cuts texts, with a note, where it is told to', async () => {
    const result = { ...texts('first', 'x'.repeat(2000), 'never seen'), _meta: { kept: 1 } };
    const cut = await limited(result, { maxBytes: 500, over: 'truncate' });
    const content = cut.content as { text: string }[];
    expect(content.map(({ text }) => text.slice(0, 6))).toEqual(['first', 'xxxxxx', '[Cut: ']);
    expect(cut._meta).toEqual({ kept: 1 });
    expect(bytes(cut)).toBeLessThanOrEqual(500);
    expect(bytes(cut)).toBeGreaterThan(490);
  });

  it('leaves out what cannot be cut', async () => {
    const content = [{ type: 'image', data: 'x'.repeat(2000), mimeType: 'image/png' }];
    const cut = await limited({ content }, { maxBytes: 500, over: 'truncate' });
    expect((cut.content as { type: string }[]).map(({ type }) => type)).toEqual(['text']);
  });

  it('never makes half a character, nor a result that is too large', async () => {
    const text = fc.string({ unit: 'binary', minLength: 300, maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 250, max: 400 }), async (given, maxBytes) => {
        const cut = await limited(texts(given), { maxBytes, over: 'truncate' });
        expect(bytes(cut)).toBeLessThanOrEqual(maxBytes);
        const [first] = cut.content as { text: string }[];
        if (!first!.text.startsWith('[Cut')) expect(given.startsWith(first!.text)).toBe(true);
        expect(Buffer.from(first!.text).toString()).toBe(first!.text);
      }),
    );
  });

  it('the size limit does not cut a result with structured content, whose schema has to hold', async () => {
    const result = { ...texts('x'.repeat(2000)), structuredContent: { a: 1 } };
    expect(await limited(result, { maxBytes: 500, over: 'truncate' })).toMatchObject({ isError: true });
  });

  it('holds for the results of tasks', async () => {
    const result = texts('x'.repeat(2000));
    expect(await limited(result, { maxBytes: 500 }, 'tasks/result')).toMatchObject({ isError: true });
    expect(await limited({ taskId: 't', result }, { maxBytes: 500 }, 'tasks/get')).toMatchObject({
      taskId: 't',
      result: { isError: true },
    });
    expect(await limited({ taskId: 't' }, { maxBytes: 5 }, 'tasks/get')).toEqual({ taskId: 't' });
  });

  it('fails for resources and prompts', async () => {
    const contents = [{ uri: 'a:', text: 'x'.repeat(2000) }];
    await expect(limited({ contents }, { maxBytes: 500 }, 'resources/read')).rejects.toMatchObject({
      code: 'UPSTREAM_INVALID',
      message: expect.stringMatching(/a result of \d+ bytes; the limit is 500/),
    });
  });

  it('an unknown value of "over" is refused', () => {
    expect(() => sizeLimit({ over: 'drop' as never })).toThrow('sizeLimit.over: must be error or truncate');
  });
});
