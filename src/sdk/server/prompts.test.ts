import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { FakeExchange, answerOf } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { PromptReturn } from './types.ts';

function withPrompt(returned: PromptReturn = 'hi') {
  const server = new Server({ name: 'test', version: '1' });
  const args = [{ name: 'language', description: 'L', required: true }, { name: 'style' }];
  server.prompt('p', { title: 'P', description: 'D', arguments: args }, () => returned);
  server.prompt('echo', {}, (args) => JSON.stringify(args));
  return server;
}

const get = (server: Server, params: JsonObject) => answerOf(server, new FakeExchange('prompts/get', { params }));
const user = (text: string) => ({ role: 'user' as const, content: { type: 'text' as const, text } });

describe('prompts', () => {
  it('prompts are listed with their arguments', async () => {
    expect(await answerOf(withPrompt(), new FakeExchange('prompts/list'))).toEqual({
      prompts: [
        {
          name: 'p',
          title: 'P',
          description: 'D',
          arguments: [{ name: 'language', description: 'L', required: true }, { name: 'style' }],
        },
        { name: 'echo' },
      ],
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it.each([
    ['words', { description: 'D', messages: [user('words')] }],
    [[user('a')], { description: 'D', messages: [user('a')] }],
    [
      { description: 'own', messages: [user('a')], _meta: { x: 1 } },
      { description: 'own', messages: [user('a')], _meta: { x: 1 } },
    ],
  ])('turn %j into messages', async (returned, expected) => {
    expect(await get(withPrompt(returned), { name: 'p', arguments: { language: 'ts' } })).toEqual(expected);
  });

  it('give their arguments to the author', async () => {
    const result = await get(withPrompt(), { name: 'echo', arguments: { a: 'b' } });
    expect(result).toEqual({ messages: [user('{"a":"b"}')] });
    expect(await get(withPrompt(), { name: 'echo' })).toEqual({ messages: [user('{}')] });
  });

  it.each([
    [{ name: 'p' }, { parameter: 'language', error: 'Required parameter missing' }],
    [
      { name: 'echo', arguments: { a: 1 } },
      { parameter: 'a', error: 'Must be a string' },
    ],
    [
      { name: 'echo', arguments: 'a' },
      { parameter: 'arguments', error: 'Must be an object' },
    ],
    [{}, { parameter: 'name', error: 'Required parameter missing' }],
  ])('refuse %j', async (params, details) => {
    await expect(get(withPrompt(), params)).rejects.toMatchObject({ code: 'INVALID_PARAMS', details });
  });

  it('prompts that are unknown are refused by name', async () => {
    const unknown = { code: 'PROMPT_NOT_FOUND', details: { name: 'nope' } };
    await expect(get(withPrompt(), { name: 'nope' })).rejects.toMatchObject(unknown);
  });
});
