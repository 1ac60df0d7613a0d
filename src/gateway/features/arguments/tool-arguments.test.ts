// The steps that set arguments: defaults and fixed.
import { describe, expect, it } from 'vitest';
import { defaults, fixed } from './tool-arguments.ts';
import { chainOf, serverOf } from '../../../kernel/fake-exchange.contract.ts';

const inputSchema = {
  type: 'object',
  properties: { query: { type: 'string' }, limit: { type: 'integer', minimum: 1 }, region: { type: 'string' } },
  required: ['query', 'limit'],
  additionalProperties: false,
};
const server = () =>
  serverOf({
    tools: [
      { name: 'search', inputSchema },
      { name: 'plain', inputSchema: { type: 'object' } },
    ],
  });
const search = (given?: object) => ({ name: 'search', ...(given && { arguments: given }) });

describe('defaults', () => {
  const step = defaults({ search: { limit: 10 }, 'sea*': { region: 'eu' } });

  it('fills in what a call leaves out', async () => {
    const call = chainOf([step], server());
    expect(await call('tools/call', search({ query: 'a', limit: 2 }))).toMatchObject({
      params: { arguments: { query: 'a', limit: 2, region: 'eu' } },
    });
    expect(await call('tools/call', search())).toMatchObject({ params: { arguments: { limit: 10, region: 'eu' } } });
    expect(await call('tools/call', { name: 'plain' })).toEqual({ method: 'tools/call', params: { name: 'plain' } });
  });

  it('defaults are told in the schema, which no longer requires them', async () => {
    const { tools } = await chainOf([step], server())('tools/list');
    expect(tools).toEqual([
      {
        name: 'search',
        inputSchema: {
          ...inputSchema,
          properties: {
            query: { type: 'string' },
            limit: { type: 'integer', minimum: 1, default: 10 },
            region: { type: 'string', default: 'eu' },
          },
          required: ['query'],
        },
      },
      { name: 'plain', inputSchema: { type: 'object' } },
    ]);
  });
});

describe('fixed', () => {
  const step = fixed({ search: { limit: 5 } });

  it('replaces whatever the client sends', async () => {
    const call = chainOf([step], server());
    expect(await call('tools/call', search({ query: 'a', limit: 9000 }))).toMatchObject({
      params: { arguments: { query: 'a', limit: 5 } },
    });
    expect(await call('tools/call', search())).toMatchObject({ params: { arguments: { limit: 5 } } });
  });

  it('a fixed argument is not in the schema', async () => {
    const { tools } = await chainOf([step], server())('tools/list');
    expect((tools as unknown[])[0]).toEqual({
      name: 'search',
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string' }, region: { type: 'string' } },
        required: ['query'],
        additionalProperties: false,
      },
    });
    expect(inputSchema.required).toEqual(['query', 'limit']);
  });

  it('leaves no empty list of required arguments', async () => {
    const { tools } = await chainOf([fixed({ search: { query: 1, limit: 1 } })], server())('tools/list');
    expect((tools as { inputSchema: object }[])[0]!.inputSchema).not.toHaveProperty('required');
  });

  it('invalid arguments are left for the server to refuse', async () => {
    expect(await chainOf([step], server())('tools/call', { name: 'search', arguments: 'no' })).toMatchObject({
      params: { arguments: 'no' },
    });
  });

  it('options that are not arguments are refused', () => {
    expect(() => fixed({ search: 5 } as never)).toThrow('fixed.search: must be an object with arguments');
    expect(() => defaults([] as never)).toThrow('defaults: must name tools, each with its arguments');
  });
});
